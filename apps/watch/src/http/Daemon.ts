/**
 * The data and actions that the daemon offers to the HTTP interface. `storeDaemon.ts` implements it with the store and the sinks; tests
 * implement it in memory.
 */
import { Context, Data, type DateTime, type Effect } from "effect"
import type { SilenceRequest } from "../deliver/SilenceRequest.ts"
import type { EventFilter } from "../store/events.ts"
import type { NodeCount } from "../store/present.ts"
import type { SilenceEnd } from "../store/silences.ts"
import type {
  AccountCost,
  AccountStatus,
  DeadLetterPage,
  EventPage,
  NodePage,
  PricedPlan,
  ProcessStatus,
  Silence,
  SinkStatus,
  Trouble
} from "./records.ts"

/**
 * Why the daemon refuses a request, with the HTTP status. `invalid`: the request makes no sense. `unknown`: it names something
 * that does not exist. `gone`: the data is no longer kept. `busy`: the request may be retried.
 */
export const refusalStatus = { invalid: 400, unknown: 404, gone: 410, busy: 503 } as const

export class Refused extends Data.TaggedError("Refused")<{
  readonly kind: keyof typeof refusalStatus
  readonly message: string
}> {}

/** Selects a page of a list. */
interface PageQuery {
  /** Where the page starts: `next` of the previous page. */
  readonly after?: string | undefined
  readonly limit: number
}

export interface NodeQuery extends PageQuery {
  readonly account?: string | undefined
  /** The nodes at that instant; by default the nodes known now. */
  readonly at?: DateTime.Utc | undefined
}

export interface CostQuery {
  readonly account?: string | undefined
  /** `YYYY-MM`; by default the current month. */
  readonly month?: string | undefined
  /** Used instead of a month: the period from this instant until now. */
  readonly since?: DateTime.Utc | undefined
}

export class Daemon extends Context.Service<
  Daemon,
  {
    readonly accounts: Effect.Effect<ReadonlyArray<AccountStatus>>
    /** The processes that use the store, sorted by name; empty if the store is a file. */
    readonly processes: Effect.Effect<ReadonlyArray<ProcessStatus>>
    /** The current troubles, worst first. */
    readonly troubles: Effect.Effect<ReadonlyArray<Trouble>>
    /** The nodes, sorted by account and id. */
    readonly nodes: (query: NodeQuery) => Effect.Effect<NodePage, Refused>
    readonly nodeCounts: Effect.Effect<ReadonlyArray<NodeCount>>
    /** The size of the store in bytes, as the retention limit `maxBytes` counts it. */
    readonly storeBytes: Effect.Effect<number>
    readonly plans: Effect.Effect<ReadonlyArray<PricedPlan>>
    /** What accounts spent, sorted by name, as of an instant. */
    readonly costs: (query: CostQuery, nowMillis: number) => Effect.Effect<ReadonlyArray<AccountCost>, Refused>
    /** What the accounts of this process spent this month. The value may be up to a minute old. */
    readonly monthCosts: Effect.Effect<ReadonlyArray<AccountCost>>
    /**
     * Without `after`, the last events. With `after`, the first events after this cursor; `""` means from the oldest that is
     * kept.
     */
    readonly events: (query: EventFilter & PageQuery) => Effect.Effect<EventPage, Refused>
    /** The cursor at the end of the log. */
    readonly cursor: Effect.Effect<string>
    /** Waits until the log has an event after this cursor. */
    readonly eventAfter: (cursor: string) => Effect.Effect<void>
    readonly sinks: Effect.Effect<ReadonlyArray<SinkStatus>>
    /** Lets a disabled sink continue. */
    readonly enable: (sink: string) => Effect.Effect<void, Refused>
    /** Delivers dead letters and waiting retries now. */
    readonly retry: (sink: string) => Effect.Effect<void, Refused>
    /** The events that a sink gave up on. */
    readonly deadLetters: (sink: string, query: PageQuery) => Effect.Effect<DeadLetterPage, Refused>
    /** Delivers one dead letter now, by the id of its event. */
    readonly revive: (sink: string, id: string) => Effect.Effect<void, Refused>
    /** Sends a test event, which is not in the log. */
    readonly test: (sink: string) => Effect.Effect<void, Refused>
    /** Sets a sink back to a cursor, so that it gets the events after the cursor again; `account`: only those of one account. */
    readonly replay: (sink: string, after: string, account?: string) => Effect.Effect<void, Refused>
    /** Forgets a sink that the config no longer has. */
    readonly remove: (sink: string) => Effect.Effect<void, Refused>
    /** The planned and active silences, and those that ended within a day, sorted by start. */
    readonly silences: Effect.Effect<ReadonlyArray<Silence>>
    readonly addSilence: (request: SilenceRequest) => Effect.Effect<Silence, Refused>
    /** Ends a silence now. `atEnd` replaces the planned fate of its events; undefined keeps it. */
    readonly endSilence: (id: string, atEnd: SilenceEnd | undefined) => Effect.Effect<Silence, Refused>
  }
>()("@berthkit/watch/http/Daemon") {}

/** The questions that commands ask a running daemon, or the store if no daemon is running. */
export type Answers = Omit<
  Daemon["Service"],
  "processes" | "nodeCounts" | "storeBytes" | "plans" | "costs" | "monthCosts" | "eventAfter"
>
