/// <reference lib="esnext.disposable" preserve="true" />
/**
 * What tests without Effect see: the server, its worlds, what their methods take and give. How they are made is in
 * `../promise.ts`.
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

/** How a world is made, as the control plane takes it: `{ seed: 7, provisioning: "10 seconds" }`. Everything has a default. */
export interface WorldOptions extends Omit<ControlWorldOptions, "clock"> {
  /** How the world's time passes: `frozen` (it is moved by the test), `real`, or `x60` (sixty times as fast). Default `frozen`. */
  readonly clock?: string | undefined
}

/** What the server takes: the options of each world that does not give its own. Credentials are for each world alone. */
export interface ServerOptions extends Omit<WorldOptions, "apiKey" | "accessToken"> {
  /** A file that `berth-server learn --profile` wrote: all worlds behave as that service does. Default none. */
  readonly profile?: string | undefined
}

/** A fault as it was armed. */
export type ArmedFault = Fault & {
  /** Names it among the armed ones of its world, as `status-1`. */
  readonly id: string
  /** Requests in its scope and its time so far. */
  readonly seen: number
  /** How often it has fired. */
  readonly fired: number
}

/** Which requests of a journal; without any of it, the latest that are kept. */
export interface JournalFilter {
  readonly operation?: Exclude<JournalEntry["operation"], null> | undefined
  readonly method?: string | undefined
  readonly status?: number | undefined
  /** Only requests at which this fault fired. */
  readonly fault?: Fault["fault"] | undefined
  /** Only requests with a greater `seq`; 0 begins with the first that is kept. */
  readonly after?: number | undefined
  /** At most so many of them, up to 1000: with `after` the first ones, without it the last. */
  readonly limit?: number | undefined
}

/** A world as a value, for `restore`. It is JSON, to be kept and not to be taken apart. */
export interface Snapshot {
  readonly format: string
}

/**
 * An account with nodes, a clock, an allowance, faults and a journal of its own. What the service refuses is a `MockRefused`
 * with its sentence.
 */
export interface World {
  /** Its name on the control plane, such as `w1`. */
  readonly id: string
  /** The service's scheme and host, without a path. */
  readonly baseUrl: string
  /**
   * Not shown by `console.log` and `JSON.stringify` of the world, so that logs of tests hold nothing that has to be explained. A
   * copy, as of `{ ...world }`, has it like every other field.
   */
  readonly apiKey: string
  /** As `apiKey`. */
  readonly accessToken: string
  /** `baseUrl`, `apiKey` and `accessToken` for `createClient`, which does not take a world itself. Not shown, like `apiKey`. */
  readonly connection: { readonly baseUrl: string; readonly apiKey: string; readonly accessToken: string }
  /** The world's present instant. */
  readonly now: () => Promise<Date>
  /** Moves the clock on by a duration such as `"10 seconds"` or `"1h30m"`, and gives its new instant. */
  readonly advance: (by: string) => Promise<Date>
  /** Moves the clock to an instant such as `"2026-01-01T00:00:10Z"`, which is not before the present one, and gives it. */
  readonly advanceTo: (instant: Date | string) => Promise<Date>
  /** Moves the clock to the next event, and gives all events of that instant; none when none will come. */
  readonly advanceToNextEvent: () => Promise<ReadonlyArray<WorldEvent>>
  /** Changes how time passes: `frozen`, `real`, or a factor such as `x60`. Gives the present instant. */
  readonly setClock: (clock: string) => Promise<Date>
  /**
   * Changes the rate limit; what is left out of it stays as it is. What has been spent of the allowance stays spent. A reset goes
   * back to the rate limit that the world began with.
   */
  readonly setRateLimit: (rateLimit: RateLimit) => Promise<WorldSummary>
  /** Arms these faults and no others, each counting from now on. */
  readonly arm: (faults: ReadonlyArray<Fault>) => Promise<void>
  /** Arms one fault more, after those that are armed, which count on. */
  readonly armAlso: (fault: Fault) => Promise<ArmedFault>
  /** Disarms the fault of this `id`, or without one all faults. */
  readonly disarm: (id?: string) => Promise<void>
  /** The armed faults, with how often they have fired. */
  readonly faults: () => Promise<ReadonlyArray<ArmedFault>>
  /** The requests to the world, the oldest first, at most the latest 1000. It can be read after the world has ended. */
  readonly journal: (filter?: JournalFilter) => Promise<ReadonlyArray<JournalEntry>>
  /** Empties the journal. */
  readonly forget: () => Promise<void>
  /**
   * Compares the journal with what was expected. Rejects with `CallsDiffer`, whose message names the calls that are missing and
   * the requests that come nearest to them. It can be asked after the world has ended.
   */
  readonly verify: (expectation: Expectation) => Promise<void>
  /** Seed, armed faults and journal as text, to find out why a test failed. It can be asked after the world has ended. */
  readonly explain: () => Promise<string>
  /** Nodes by ascending id, without spending the allowance. Default the first 100; `count` is up to 1000. */
  readonly nodes: (page?: {
    readonly skip?: number | undefined
    readonly count?: number | undefined
  }) => Promise<ReadonlyArray<NodeView>>
  /** Forces a status or a lock on a node. A status of `null` gives it back to the lifecycle. */
  readonly forceNode: (id: number, change: NodeChange) => Promise<NodeView>
  /** Makes a saved image, which no request of the service does. */
  readonly saveImage: (order: SavedImageOrder) => Promise<SavedImageView>
  /** The world at a glance: its clock, how many nodes it has, its allowance. */
  readonly summary: () => Promise<WorldSummary>
  /** The world as a value; its credentials are no part of it. */
  readonly snapshot: () => Promise<Snapshot>
  /** Puts a snapshot into this world, which keeps its credentials. */
  readonly restore: (snapshot: Snapshot) => Promise<void>
  /** Puts the world back to where it began. Its credentials stay. */
  readonly reset: () => Promise<void>
  /** Ends the world; one that has ended stays so. The server keeps the journals of the last 20. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** The service on a free port of the loopback interface, in this process. */
export interface Server {
  /** Its scheme and host, without a path. */
  readonly baseUrl: string
  /** Makes a world with credentials of its own: tests that share a server never meet. */
  readonly makeWorld: (options?: WorldOptions) => Promise<World>
  /** Ends the server and all its worlds; connections are cut. A process may also end without it. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}
