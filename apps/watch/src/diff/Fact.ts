/**
 * What happened, as far as the observations prove it: the type and the data of an event, stated here and nowhere else. A fact
 * has no id and no place in an order yet; it gets those as an event, in `events/`.
 */
import { Node } from "@berth/core/domain/Node"
import { NodeStatus } from "@berth/core/domain/NodeStatus"
import { Schema } from "effect"

const observedBetween = Schema.Tuple([Schema.DateTimeUtc, Schema.DateTimeUtc]).annotate({
  description: "It happened in between, both ends included: polling sees samples."
})

const sweep = Schema.Int.annotate({ description: "Number of the sweep in this run, from 1." })

/** A fact about one node. */
const aboutNode = <const Type extends string, const Data extends Schema.Struct.Fields>(type: Type, data: Data) =>
  Schema.Struct({
    subject: Schema.String.annotate({ description: "`nodes/{id}`." }),
    type: Schema.Literal(type),
    data: Schema.Struct({
      ...data,
      observedBetween,
      sweep: Schema.NullOr(sweep).annotate({
        description: "Number of the sweep that showed it; null when a read of the single node did."
      })
    })
  })

/** A fact about the account as a whole. */
const aboutAccount = <const Type extends string, const Data extends Schema.Struct.Fields>(type: Type, data: Data) =>
  Schema.Struct({ type: Schema.Literal(type), data: Schema.Struct({ ...data, sweep }) })

/** A node exists that did not exist before. */
export const NodeCreated = aboutNode("berth.node.created", { before: Schema.Null, after: Node })

/** A node has another status. Statuses between two observations are not known. */
export const NodeStatusChanged = aboutNode("berth.node.status_changed", {
  from: NodeStatus,
  to: NodeStatus,
  before: Node,
  after: Node
})

/** A node is gone. */
export const NodeDeleted = aboutNode("berth.node.deleted", { before: Node, after: Schema.Null })

/** The first complete sweep: the nodes that existed already. Later events report what happens to them. */
export const WatchBaseline = aboutAccount("berth.watch.baseline", { nodes: Schema.Array(Node), observedBetween })

const Trouble = Schema.Literals(["sweep-failed", "list-empty", "nodes-vanished"]).annotate({
  description:
    "`sweep-failed`: the list cannot be read, and everything is late. `list-empty`, `nodes-vanished`: the list is " +
    "too short to be believed, and no deletion is reported."
})
export type Trouble = typeof Trouble.Type

/** The daemon reports less than it should, until `berth.watch.recovered` with the same trouble. */
export const WatchDegraded = aboutAccount("berth.watch.degraded", {
  trouble: Trouble,
  message: Schema.String,
  expected: Schema.Int.annotate({ description: "Nodes that should have been listed." }),
  missing: Schema.Int.annotate({ description: "How many of them were not; 0 when the list could not be read." })
})

const Ending = Schema.Literals(["reachable", "plausible", "confirmed", "persisted"]).annotate({
  description:
    "`reachable`: the list can be read again. `plausible`: enough of it is there again. `confirmed`: the missing " +
    "nodes are gone, each by its own 404. `persisted`: the list stayed as it is for the whole hold."
})
export type Ending = typeof Ending.Type

/** A trouble is over. */
export const WatchRecovered = aboutAccount("berth.watch.recovered", {
  trouble: Trouble,
  ending: Ending,
  since: Schema.DateTimeUtc
})

/** What an event is about: the same on every replay. Null where it concerns the account as a whole. */
export interface Identity {
  readonly nodeId: number | null
  /** Seconds since the epoch at which the service accepted the node: distinguishes two nodes of the same id. */
  readonly incarnation: number | null
  /** Distinguishes two events of one type. */
  readonly version: number | string
}

interface Known {
  readonly identity: Identity
  /** When it was known: the end of `observedBetween`. */
  readonly atMillis: number
}

export type NodeFact = Known & (typeof NodeCreated.Type | typeof NodeStatusChanged.Type | typeof NodeDeleted.Type)

export type Fact =
  | NodeFact
  | (Known & (typeof WatchBaseline.Type | typeof WatchDegraded.Type | typeof WatchRecovered.Type))
