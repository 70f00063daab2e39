/**
 * Observations: the results of polling, one reply at a time, with the moments of the request and of the reply. `diff.ts` interprets them.
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

/** The moments of a request and of its reply. What the reply says was true at some moment between the two. */
export interface Exchange {
  readonly asked: Moment
  readonly answered: Moment
}

/**
 * One page of the list. It was read as part of a sweep (a read of the whole list, page by page), or only to see where the list
 * ends.
 */
export interface PageRead extends Exchange {
  readonly _tag: "PageRead"
  /** Number of the sweep, from 1; null if the page was read only to see where the list ends. */
  readonly sweep: number | null
  /** Whether the list ascends and ends with this page, so that no greater id existed. */
  readonly isEnd: boolean
  readonly nodes: ReadonlyArray<Node>
  /** Ids of the records that could not be read. All that is known about these nodes is that they are listed. */
  readonly unreadable: ReadonlyArray<NodeId>
}

/** A sweep that read the list to its end. `asked` is the moment of its first request. */
export interface SweepCompleted extends Exchange {
  readonly _tag: "SweepCompleted"
  readonly sweep: number
  /** Number of its requests. */
  readonly requests: number
  /** Number of different nodes on its pages. */
  readonly listed: number
  /**
   * Number of records whose id could not be read either. Up to this many nodes that seem to be missing may be in the list after
   * all.
   */
  readonly nameless: number
  /** All unreadable records, with or without an id; absent if there were none. */
  readonly unreadable?: UnreadableRecords | undefined
}

/** Unreadable records of the list. All that is known about these nodes is that they are listed. */
export interface UnreadableRecords {
  readonly count: number
  /** What is wrong with the first of them. */
  readonly example: string
}

/** A read of a single node whose reply contained the node. */
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
