/**
 * What happened, as far as the observations prove it. A fact has no id, no sequence and no wire shape: those come when
 * it is told, in `events/`.
 */
import type { Node } from "@berth/core/domain/Node"
import type { NodeStatus } from "@berth/core/domain/NodeStatus"

/** `[from, to]` in milliseconds since the epoch: what is told happened in between, both ends included. */
export type Between = readonly [fromMillis: number, toMillis: number]

/** What every fact about one node says. */
interface AboutNode {
  /** Seconds since the epoch at which the service accepted the node: tells two nodes of the same id apart. */
  readonly incarnation: number
  /** Which one of its kind this is in the life of the incarnation. */
  readonly version: number
  readonly between: Between
  /** The sweep that showed it; null when a single look did. */
  readonly sweep: number | null
}

interface Created extends AboutNode {
  readonly _tag: "Created"
  readonly after: Node
}

interface StatusChanged extends AboutNode {
  readonly _tag: "StatusChanged"
  readonly before: Node
  readonly after: Node
  readonly from: NodeStatus
  readonly to: NodeStatus
}

interface Deleted extends AboutNode {
  readonly _tag: "Deleted"
  readonly before: Node
}

/** The first complete sweep: the nodes that were there already. */
interface Baseline {
  readonly _tag: "Baseline"
  readonly nodes: ReadonlyArray<Node>
  readonly between: Between
  readonly sweep: number
}

/**
 * Why the daemon says less than it should. `sweep-failed`: the list cannot be read, so everything is late.
 * `list-empty` and `nodes-vanished`: the list is too short to be believed, so no deletion is told.
 */
export type Trouble = "sweep-failed" | "list-empty" | "nodes-vanished"

export interface Degraded {
  readonly _tag: "Degraded"
  readonly trouble: Trouble
  readonly message: string
  readonly sinceMillis: number
  /** Nodes that were expected in the list. */
  readonly expected: number
  /** How many of them it lacked; 0 when it could not be read. */
  readonly missing: number
  readonly sweep: number
}

/**
 * How a trouble ended. `reachable`: the list can be read again. `plausible`: enough of the list is there again.
 * `confirmed`: the missing nodes are gone, each by its own 404. `persisted`: the list stayed so for the whole hold.
 */
export type Ending = "reachable" | "plausible" | "confirmed" | "persisted"

interface Recovered {
  readonly _tag: "Recovered"
  readonly trouble: Trouble
  readonly ending: Ending
  readonly sinceMillis: number
  readonly atMillis: number
  readonly sweep: number
}

export type NodeFact = Created | StatusChanged | Deleted
export type Fact = NodeFact | Baseline | Degraded | Recovered
