/**
 * What only this process saw of the account and has not concluded from yet: instants of its own clock, the order of answers, samples. It is
 * lost with the process and gathered anew by the next one; what must not be lost is `NodeState` or `Standing`. What it saw of one node
 * is in `Belief.ts`.
 */
import { type Census, emptyCensus } from "./Baseline.ts"
import type { Passing } from "./NodeState.ts"
import type { Moment } from "./Observation.ts"
import type { Batch } from "./Sample.ts"

/** A complete sweep. */
interface Swept {
  readonly asked: Moment
  readonly answered: Moment
  readonly number: number
  readonly requests: number
  /** Those of the sweep before, where that took fewer: a list that moved while it was read takes some more. */
  readonly usualRequests: number
}

/** The end of a list of ascending ids. */
interface Tail {
  readonly asked: Moment
  readonly lastId: number
}

/** Milliseconds, by status. */
export type Durations = Readonly<Record<Passing, ReadonlyArray<number>>>

export interface Evidence {
  /** Chooses which of many suspects are read. */
  readonly seed: number
  /** Fingerprint of the API key in use; null when keys are not compared. */
  readonly fingerprint: string | null
  /** When observing began, or went on after a pause. */
  readonly begun: Moment
  /** Whether nothing was reported yet since it began, although something was known before. */
  readonly afterGap: boolean
  /** The last complete sweep of this process. */
  readonly swept: Swept | null
  /** The last page that was the end of the list; null while none was seen. */
  readonly tail: Tail | null
  /** How long nodes were in each status that they pass through, the newest last. */
  readonly durations: Durations
  /** When a sweep was complete last, whether or not its nodes were believed. */
  readonly completedMonotonicMillis: number
  /** Requests in a row that failed. */
  readonly failures: number
  /** When the last request failed. */
  readonly failedMonotonicMillis: number
  /** Suspects of which only some are read. */
  readonly batches: ReadonlyArray<Batch>
  /** When nodes were reported deleted lately that were not seen terminating, on the monotonic clock. */
  readonly losses: ReadonlyArray<number>
  /** Whether a node was reported deleted in the present freeze. */
  readonly lostInFreeze: boolean
  /** `Moment.order` of the baseline; a sweep that began before it did not see all nodes that are known. -1 without one. */
  readonly baselineOrder: number
  /** The list as it is read before its nodes are believed. */
  readonly census: Census
}

export const initialEvidence = (seed: number, fingerprint: string | null, begun: Moment): Evidence => ({
  seed,
  fingerprint,
  begun,
  afterGap: false,
  swept: null,
  tail: null,
  durations: { creating: [], created: [], terminate: [] },
  completedMonotonicMillis: -Infinity,
  failures: 0,
  failedMonotonicMillis: -Infinity,
  batches: [],
  losses: [],
  lostInFreeze: false,
  baselineOrder: -1,
  census: emptyCensus()
})
