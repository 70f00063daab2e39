/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The types for tests without Effect: the server, its worlds, and the arguments and results of their methods. The
 * implementation is in `../promise.ts`.
 */
import type {
  Expectation,
  Fault,
  JournalEntry,
  NodeChange,
  NodeView,
  RateLimit,
  SavedImageOrder,
  SavedImageView,
  WorldEvent,
  WorldOptions as ControlWorldOptions,
  WorldSummary
} from "./ControlTypes.ts"

/**
 * The options of a world, as the control plane takes them: `{ seed: 7, provisioning: "10 seconds" }`. Everything has a default.
 */
export interface WorldOptions extends Omit<ControlWorldOptions, "clock"> {
  /**
   * How the world's time passes: `frozen` (only the test moves it), `real`, or a factor such as `x60` (sixty times as fast
   * as real time). Default: `frozen`.
   */
  readonly clock?: string | undefined
}

/**
 * The options of the server: defaults for the options of its worlds, and a profile. Credentials are options of `makeWorld`
 * only.
 */
export interface ServerOptions extends Omit<WorldOptions, "apiKey" | "accessToken"> {
  /**
   * A file that `berth-server learn --profile` has written. All worlds imitate the service that it describes. Default: none.
   */
  readonly profile?: string | undefined
}

/** An armed fault. */
export type ArmedFault = Fault & {
  /** The name of the armed fault in its world, such as `status-1`. */
  readonly id: string
  /** Number of requests so far that were in the fault's scope and time. */
  readonly seen: number
  /** How often the fault has fired. */
  readonly fired: number
}

/** Selects requests of a journal. Without any filter, `journal` returns the latest requests. */
export interface JournalFilter {
  readonly operation?: Exclude<JournalEntry["operation"], null> | undefined
  readonly method?: string | undefined
  readonly status?: number | undefined
  /** Only requests at which this fault fired. */
  readonly fault?: Fault["fault"] | undefined
  /** Only requests with a greater `seq`. With 0, the first request that the journal keeps comes first. */
  readonly after?: number | undefined
  /** Maximum number of requests, up to 1000. If `after` is given, these are the first ones, otherwise the last ones. */
  readonly limit?: number | undefined
}

/** A world as a JSON value, for `restore`. Its fields are not part of the API. */
export interface Snapshot {
  readonly format: string
}

/**
 * An account of the mock with its own nodes, clock, allowance, faults and journal. If the mock refuses a call, the method
 * rejects with `MockRefused`, whose message is a sentence.
 */
export interface World {
  /** The world's name on the control plane, such as `w1`. */
  readonly id: string
  /** The service's scheme and host, without a path. */
  readonly baseUrl: string
  /**
   * `console.log` and `JSON.stringify` of the world hide it, so that it does not end up in the logs of tests. A copy such as
   * `{ ...world }` shows it like any other field.
   */
  readonly apiKey: string
  /** Hidden like `apiKey`. */
  readonly accessToken: string
  /** `baseUrl`, `apiKey` and `accessToken` for `createClient`, which does not accept a world. Hidden like `apiKey`. */
  readonly connection: { readonly baseUrl: string; readonly apiKey: string; readonly accessToken: string }
  /** The world's current instant. */
  readonly now: () => Promise<Date>
  /** Moves the clock on by a duration such as `"10 seconds"` or `"1h30m"`. Returns the new instant. */
  readonly advance: (by: string) => Promise<Date>
  /**
   * Moves the clock to an instant such as `"2026-01-01T00:00:10Z"`, which must not be in the past. Returns the new instant.
   */
  readonly advanceTo: (instant: Date | string) => Promise<Date>
  /** Moves the clock to the next event, and returns all events of that instant; none if there is no next event. */
  readonly advanceToNextEvent: () => Promise<ReadonlyArray<WorldEvent>>
  /** Changes how time passes: `frozen`, `real`, or a factor such as `x60`. Returns the current instant. */
  readonly setClock: (clock: string) => Promise<Date>
  /**
   * Changes the rate limit. Fields that you leave out keep their values, and spent requests stay spent. A reset restores the
   * rate limit with which the world started.
   */
  readonly setRateLimit: (rateLimit: RateLimit) => Promise<WorldSummary>
  /** Arms these faults and disarms all others. Each fault counts from now on. */
  readonly arm: (faults: ReadonlyArray<Fault>) => Promise<void>
  /** Arms one more fault; the armed ones keep their counts. */
  readonly armAlso: (fault: Fault) => Promise<ArmedFault>
  /** Disarms the fault with this `id`, or all faults if there is no id. */
  readonly disarm: (id?: string) => Promise<void>
  /** The armed faults, and how often each has fired. */
  readonly faults: () => Promise<ReadonlyArray<ArmedFault>>
  /** The requests to the world, the oldest first; at most the latest 1000. Works after the world has ended, too. */
  readonly journal: (filter?: JournalFilter) => Promise<ReadonlyArray<JournalEntry>>
  /** Empties the journal. */
  readonly forget: () => Promise<void>
  /**
   * Compares the journal with the expected calls. If they differ, rejects with `CallsDiffer`, whose message names the
   * missing calls and the nearest requests. Works after the world has ended, too.
   */
  readonly verify: (expectation: Expectation) => Promise<void>
  /** Seed, armed faults and journal as text, to find out why a test failed. Works after the world has ended, too. */
  readonly explain: () => Promise<string>
  /**
   * A page of the world's nodes, by ascending id. Spends no allowance. Default: the first 100. `count` may be up to 1000.
   */
  readonly nodes: (page?: {
    readonly skip?: number | undefined
    readonly count?: number | undefined
  }) => Promise<ReadonlyArray<NodeView>>
  /** Forces a status or a lock on a node. With a status of `null` the lifecycle decides again. */
  readonly forceNode: (id: number, change: NodeChange) => Promise<NodeView>
  /** Makes a saved image. No request of the service can do this. */
  readonly saveImage: (order: SavedImageOrder) => Promise<SavedImageView>
  /** A summary of the world: its clock, number of nodes and allowance. */
  readonly summary: () => Promise<WorldSummary>
  /** The world as a JSON value, without credentials. */
  readonly snapshot: () => Promise<Snapshot>
  /** Restores a snapshot into this world, which keeps its credentials. */
  readonly restore: (snapshot: Snapshot) => Promise<void>
  /** Resets the world to its start. The world keeps its credentials. */
  readonly reset: () => Promise<void>
  /** Ends the world; does nothing if it has ended. The server keeps the journals of the last 20 ended worlds. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** The service on a free port of the loopback interface, in this process. */
export interface Server {
  /** The scheme and host of the server, without a path. */
  readonly baseUrl: string
  /** Makes a world with its own credentials. Tests that share a server but not a world never affect each other. */
  readonly makeWorld: (options?: WorldOptions) => Promise<World>
  /**
   * Ends the server and all its worlds, and cuts connections. A process may also end without it.
   */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}
