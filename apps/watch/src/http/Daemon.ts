/**
 * What the HTTP interface may read from the daemon and ask of it. The store and the sinks implement it; tests implement it in
 * memory.
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
 * Why the daemon refuses, with the HTTP status: `invalid` requests make no sense, `unknown` names nothing, `gone` is no longer
 * kept, `busy` may be retried.
 */
export const refusalStatus = { invalid: 400, unknown: 404, gone: 410, busy: 503 } as const

export class Refused extends Data.TaggedError("Refused")<{
  readonly kind: keyof typeof refusalStatus
  readonly message: string
}> {}

/** Selects a page of a list. */
interface PageQuery {
  /** `next` of the previous page. */
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
  /** Instead of a month: from an instant until now. */
  readonly since?: DateTime.Utc | undefined
}

export class Daemon extends Context.Service<
  Daemon,
  {
    readonly accounts: Effect.Effect<ReadonlyArray<AccountStatus>>
    /** The processes on the store, by name; empty if it is a file. */
    readonly processes: Effect.Effect<ReadonlyArray<ProcessStatus>>
    /** The current troubles, worst first. */
    readonly troubles: Effect.Effect<ReadonlyArray<Trouble>>
    /** Ordered by account and id. */
    readonly nodes: (query: NodeQuery) => Effect.Effect<NodePage, Refused>
    readonly nodeCounts: Effect.Effect<ReadonlyArray<NodeCount>>
    /** The size of the store, as far as its retention limits it. */
    readonly storeBytes: Effect.Effect<number>
    readonly plans: Effect.Effect<ReadonlyArray<PricedPlan>>
    /** What accounts spent, by name, at an instant. */
    readonly costs: (query: CostQuery, nowMillis: number) => Effect.Effect<ReadonlyArray<AccountCost>, Refused>
    /** What the accounts of this process spent this month, at most a minute old. */
    readonly monthCosts: Effect.Effect<ReadonlyArray<AccountCost>>
    /** `after`: the first events after this cursor, `""` for the oldest kept; by default the last events. */
    readonly events: (query: EventFilter & PageQuery) => Effect.Effect<EventPage, Refused>
    /** The end of the log. */
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
    /** Sets a sink back, so that it gets the events after this cursor again. */
    readonly replay: (sink: string, after: string) => Effect.Effect<void, Refused>
    /** Forgets a sink that the config no longer has. */
    readonly remove: (sink: string) => Effect.Effect<void, Refused>
    /** By start: planned, active, and those that ended within a day. */
    readonly silences: Effect.Effect<ReadonlyArray<Silence>>
    readonly addSilence: (request: SilenceRequest) => Effect.Effect<Silence, Refused>
    /** Ends a silence now, with another fate for its events than planned if one is given. */
    readonly endSilence: (id: string, atEnd: SilenceEnd | undefined) => Effect.Effect<Silence, Refused>
  }
>()("@berthkit/watch/http/Daemon") {}

/** What commands ask a running daemon, or the store if none runs. */
export type Answers = Omit<
  Daemon["Service"],
  "processes" | "nodeCounts" | "storeBytes" | "plans" | "costs" | "monthCosts" | "eventAfter"
>
