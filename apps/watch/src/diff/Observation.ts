/**
 * Observations: what polling sees, one answer at a time, each with the moments of its request and its reply. An observation
 * contains data without interpretation: `diff.ts` interprets it.
 */
import type { Node, NodeId } from "@berthkit/core/domain/Node"

/**
 * A moment in the life of this process. `order` decides which of two moments came first, because clocks may be set back, and
 * two moments may share a millisecond.
 */
export interface Moment {
  /** Increases by one from moment to moment. */
  readonly order: number
  /** Time of day in milliseconds since the epoch, for reports. */
  readonly atMillis: number
  /** Milliseconds on a clock that never jumps, for measuring durations. */
  readonly monotonicMillis: number
  /** The service's time of day, from the dates of its replies; null without dates. */
  readonly serviceMillis: number | null
}

/** A request with its reply, which was true at some moment in between. */
export interface Exchange {
  readonly asked: Moment
  readonly answered: Moment
}

/** One page of the list, read as part of a sweep or to see the list's end. */
export interface PageRead extends Exchange {
  readonly _tag: "PageRead"
  /** Number of the sweep, from 1; null if it was read only for the end of the list. */
  readonly sweep: number | null
  /** Whether the list ascends and ends with this page, so that no greater id existed. */
  readonly isEnd: boolean
  readonly nodes: ReadonlyArray<Node>
  /** Ids of the records that could not be read: it is only known that these nodes are listed. */
  readonly unreadable: ReadonlyArray<NodeId>
}

/** A sweep that read the list to its end. Its `asked` is that of the first request. */
export interface SweepCompleted extends Exchange {
  readonly _tag: "SweepCompleted"
  readonly sweep: number
  /** Number of its requests. */
  readonly requests: number
  /** Number of different nodes on its pages. */
  readonly listed: number
  /** Records of which not even the id could be read: as many missing nodes may be listed after all. */
  readonly nameless: number
  /** All unreadable records, with or without an id; absent if there were none. */
  readonly unreadable?: UnreadableRecords | undefined
}

/** Unreadable records of the list: it is only known that these nodes are listed. */
export interface UnreadableRecords {
  readonly count: number
  /** What is wrong with the first of them. */
  readonly example: string
}

/** A read of a single node that answered with it. */
interface NodeFound extends Exchange {
  readonly _tag: "NodeFound"
  readonly node: Node
}

/** A read of a single node that answered 404. */
interface NodeMissing extends Exchange {
  readonly _tag: "NodeMissing"
  readonly nodeId: NodeId
}

/** A request of any kind without a meaningful answer. */
interface RequestFailed extends Exchange {
  readonly _tag: "RequestFailed"
  /** One sentence: why. */
  readonly message: string
  /** Whether the service refused the credentials; absent if unknown. */
  readonly isRefusal?: boolean
}

/** The process was suspended, so nothing was observed. */
interface Paused extends Exchange {
  readonly _tag: "Paused"
}

/** Time passed without an answer. Some conclusions depend only on time. */
interface TimePassed extends Exchange {
  readonly _tag: "TimePassed"
}

export type Observation = PageRead | SweepCompleted | NodeFound | NodeMissing | RequestFailed | Paused | TimePassed
