/**
 * What the HTTP interface reads of the daemon and may ask of it, and nothing more. The store and the sinks provide it; a test
 * provides one in memory.
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
 * Why the daemon does not answer a question, with its status in HTTP: `invalid` cannot be meant, `unknown` names nothing, `gone` is
 * no longer kept, `busy` may be asked again.
 */
export const refusalStatus = { invalid: 400, unknown: 404, gone: 410, busy: 503 } as const

export class Refused extends Data.TaggedError("Refused")<{
  readonly kind: keyof typeof refusalStatus
  readonly message: string
}> {}

/** Which part of a list. */
interface PageQuery {
  /** `next` of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

export interface NodeQuery extends PageQuery {
  readonly account?: string | undefined
  /** The nodes as they were then; without it, as they are known now. */
  readonly at?: DateTime.Utc | undefined
}

export interface CostQuery {
  readonly account?: string | undefined
  /** `YYYY-MM`; the present one unless given. */
  readonly month?: string | undefined
  /** Instead of a month: from an instant until now. */
  readonly since?: DateTime.Utc | undefined
}

export class Daemon extends Context.Service<
  Daemon,
  {
    readonly accounts: Effect.Effect<ReadonlyArray<AccountStatus>>
    /** The processes on the store, by name; none if it is a file. */
    readonly processes: Effect.Effect<ReadonlyArray<ProcessStatus>>
    /** What is wrong now, the worst first. */
    readonly troubles: Effect.Effect<ReadonlyArray<Trouble>>
    /** Ordered by account and id. */
    readonly nodes: (query: NodeQuery) => Effect.Effect<NodePage, Refused>
    readonly nodeCounts: Effect.Effect<ReadonlyArray<NodeCount>>
    /** What the store takes, as far as its retention bounds it. */
    readonly storeBytes: Effect.Effect<number>
    readonly plans: Effect.Effect<ReadonlyArray<PricedPlan>>
    /** What accounts spent, by name, at an instant. */
    readonly costs: (query: CostQuery, nowMillis: number) => Effect.Effect<ReadonlyArray<AccountCost>, Refused>
    /** What the accounts of this process spent this month, at most a minute ago. */
    readonly monthCosts: Effect.Effect<ReadonlyArray<AccountCost>>
    /** `after`: the first events behind this cursor, `""` for the first that are kept; without it, the last events. */
    readonly events: (query: EventFilter & PageQuery) => Effect.Effect<EventPage, Refused>
    /** The end of the log. */
    readonly cursor: Effect.Effect<string>
    /** Waits until the log has an event behind this cursor. */
    readonly eventAfter: (cursor: string) => Effect.Effect<void>
    readonly sinks: Effect.Effect<ReadonlyArray<SinkStatus>>
    /** Lets a disabled sink go on. */
    readonly enable: (sink: string) => Effect.Effect<void, Refused>
    /** Delivers dead letters and what waits for its next attempt now. */
    readonly retry: (sink: string) => Effect.Effect<void, Refused>
    /** The events that a sink gave up on. */
    readonly deadLetters: (sink: string, query: PageQuery) => Effect.Effect<DeadLetterPage, Refused>
    /** Delivers one dead letter now, by the id of its event. */
    readonly revive: (sink: string, id: string) => Effect.Effect<void, Refused>
    /** Sends a test event, which is in no log. */
    readonly test: (sink: string) => Effect.Effect<void, Refused>
    /** Sets a sink back, so that it gets the events behind this cursor again. */
    readonly replay: (sink: string, after: string) => Effect.Effect<void, Refused>
    /** Forgets a sink that the config does not have any more. */
    readonly remove: (sink: string) => Effect.Effect<void, Refused>
    /** The first to begin first: planned, active, and over for a day at most. */
    readonly silences: Effect.Effect<ReadonlyArray<Silence>>
    readonly addSilence: (request: SilenceRequest) => Effect.Effect<Silence, Refused>
    /** Ends one now, with what becomes of its events, where that is not to be what was said when it was added. */
    readonly endSilence: (id: string, atEnd: SilenceEnd | undefined) => Effect.Effect<Silence, Refused>
  }
>()("@berthkit/watch/http/Daemon") {}

/** What commands ask: of a running daemon, or of the store where none runs. */
export type Answers = Omit<
  Daemon["Service"],
  "processes" | "nodeCounts" | "storeBytes" | "plans" | "costs" | "monthCosts" | "eventAfter"
>
