/**
 * What only this process saw and has not concluded from yet: instants of its own clock, the order of answers, suspicions. It is
 * lost with the process and gathered anew by the next one; what must not be lost is `NodeState` or `Standing`.
 */
import type { NodeId } from "@berth/core/domain/Node"
import type { Batch, Suspicion } from "./Absence.ts"
import type { Statements } from "./Addresses.ts"
import { type Census, emptyCensus } from "./Baseline.ts"
import type { Passing } from "./NodeState.ts"
import type { Exchange, Moment } from "./Observation.ts"
import type { Return } from "./Return.ts"

/** A complete sweep. */
interface Sweep {
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

/** A node that single reads show although the list lacks it. */
interface Hidden {
  /** How often in a row. */
  readonly proofs: number
  readonly monotonicMillis: number
}

/** A node that was lost without being seen terminating, and is reported deleted. */
interface Loss {
  readonly nodeId: NodeId
  readonly monotonicMillis: number
}

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
  readonly swept: Sweep | null
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
  /** The newest exchange that showed each node. */
  readonly seen: ReadonlyMap<NodeId, Exchange>
  /** Since when each node in transition is in its present status. */
  readonly transitions: ReadonlyMap<NodeId, number>
  /** Nodes that may be gone. */
  readonly suspicions: ReadonlyMap<NodeId, Suspicion>
  /** Suspects of which only some are read. */
  readonly batches: ReadonlyArray<Batch>
  /** Nodes that the list lacks and that are there. */
  readonly hidden: ReadonlyMap<NodeId, Hidden>
  /** What was lost lately. */
  readonly losses: ReadonlyArray<Loss>
  /** Nodes reported deleted that were seen again. */
  readonly returns: ReadonlyMap<NodeId, Return>
  /** Nodes that were seen in a status that cannot follow the one they have. */
  readonly impossible: ReadonlyMap<NodeId, Exchange>
  /** Nodes that were shown since by records that do not state how they are: when each was last seen as it is known, in time of day. */
  readonly unstated: ReadonlyMap<NodeId, number>
  /** What the two shapes of a record stated of the addresses of nodes that were read singly. */
  readonly addresses: ReadonlyMap<NodeId, Statements>
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
  seen: new Map(),
  transitions: new Map(),
  suspicions: new Map(),
  batches: [],
  hidden: new Map(),
  losses: [],
  returns: new Map(),
  impossible: new Map(),
  unstated: new Map(),
  addresses: new Map(),
  baselineOrder: -1,
  census: emptyCensus()
})
