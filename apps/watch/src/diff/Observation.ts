/**
 * What polling sees, one answer at a time, each with the moments of its request and its reply. An observation holds the
 * sample and never its meaning: `diff.ts` decides that.
 */
import type { Node, NodeId } from "@berthkit/core/domain/Node"

/**
 * A moment in the life of this process. `order` decides which of two moments came first; clocks may be set back, and two
 * moments may fall into one millisecond.
 */
export interface Moment {
  /** Grows by one from moment to moment. */
  readonly order: number
  /** Time of day in milliseconds since the epoch, for reports. */
  readonly atMillis: number
  /** Milliseconds on a clock that never jumps, for measuring how long something took. */
  readonly monotonicMillis: number
  /** The service's time of day, as the dates of its replies show it; null where they have none. */
  readonly serviceMillis: number | null
}

/** From request to reply: the reply was true at some moment in between. */
export interface Exchange {
  readonly asked: Moment
  readonly answered: Moment
}

/** One page of the list, read as part of a sweep or to see its end. */
export interface PageRead extends Exchange {
  readonly _tag: "PageRead"
  /** Number of the sweep, from 1; null when it was read for the end of the list alone. */
  readonly sweep: number | null
  /** Whether the list ascends and ends with this page, so that a greater id was not there. */
  readonly isEnd: boolean
  readonly nodes: ReadonlyArray<Node>
  /** Ids of the records that could not be read: of them it is only known that they are listed. */
  readonly unreadable: ReadonlyArray<NodeId>
}

/** A sweep that read the list to its end. It begins with its first request. */
export interface SweepCompleted extends Exchange {
  readonly _tag: "SweepCompleted"
  readonly sweep: number
  /** Requests it took. */
  readonly requests: number
  /** Different nodes on its pages. */
  readonly listed: number
  /** Records that could not be read, nor their ids: as many missing nodes may be listed after all. */
  readonly nameless: number
  /** The records that could not be read, with or without an id; left out where there were none. */
  readonly unreadable?: UnreadableRecords | undefined
}

/** Records of the list that were set aside: nothing is known of those nodes but that they are listed. */
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

/** A request, of whatever kind, without an answer that means anything. */
interface RequestFailed extends Exchange {
  readonly _tag: "RequestFailed"
  /** One sentence: why. */
  readonly message: string
  /** Whether the service refused the credentials; left out where that is not known. */
  readonly isRefusal?: boolean
}

/** The process stood still in between, so that nothing was observed. */
interface Paused extends Exchange {
  readonly _tag: "Paused"
}

/** Time passed without an answer. Some things are noticed just because time has passed. */
interface TimePassed extends Exchange {
  readonly _tag: "TimePassed"
}

export type Observation = PageRead | SweepCompleted | NodeFound | NodeMissing | RequestFailed | Paused | TimePassed
