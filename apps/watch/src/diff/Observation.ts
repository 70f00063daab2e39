/**
 * What polling sees, one answer at a time, each with the moments of its request and its reply. An observation holds the
 * sample and never its meaning: `diff.ts` decides that.
 */
import type { Node, NodeId } from "@berth/core/domain/Node"

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
}

/** From request to reply: the reply was true at some moment in between. */
export interface Exchange {
  readonly asked: Moment
  readonly answered: Moment
}

/** One page of the list, read as part of a sweep. */
export interface PageRead extends Exchange {
  readonly _tag: "PageRead"
  /** Number of the sweep, from 1. */
  readonly sweep: number
  readonly nodes: ReadonlyArray<Node>
}

/** How much of the list a sweep read. */
interface Extent {
  /** Requests it took. */
  readonly requests: number
  /** Different nodes on its pages. */
  readonly listed: number
  /** Nodes that came on more than one page: the list shifted under the sweep. */
  readonly repeated: number
}

/** A sweep that read the list to its end. */
export interface SweepCompleted extends Exchange, Extent {
  readonly _tag: "SweepCompleted"
  readonly sweep: number
}

/** A sweep that could not read the list to its end. The nodes on its pages count; missing nodes mean nothing. */
export interface SweepFailed extends Exchange, Extent {
  readonly _tag: "SweepFailed"
  readonly sweep: number
  /** One sentence: why. */
  readonly message: string
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

export type Observation = PageRead | SweepCompleted | SweepFailed | NodeFound | NodeMissing
