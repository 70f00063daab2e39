/**
 * Facts: the changes that observations prove. This module alone defines the types and data of events about nodes. A fact has no id and no
 * position yet; it gets both when it becomes an event, in `events/`.
 */
import { Node } from "@berthkit/core/domain/Node"
import { NodeStatus } from "@berthkit/core/domain/NodeStatus"
import { DateTime, Schema } from "effect"
import { causeFields } from "./Cause.ts"

/** `[from, to]` in milliseconds since the epoch, both inclusive. */
export type Between = readonly [fromMillis: number, toMillis: number]

/**
 * The interval between two instants. The later one is `toMillis`; if the clock was set back in between, the interval is empty.
 */
export const between = (fromMillis: number, toMillis: number): Between => [Math.min(fromMillis, toMillis), toMillis]

/** An interval in the form that events have. */
export const instantsOf = ([fromMillis, toMillis]: Between) =>
  [DateTime.makeUnsafe(fromMillis), DateTime.makeUnsafe(toMillis)] as const

export const observedBetween = Schema.Tuple([Schema.DateTimeUtc, Schema.DateTimeUtc]).annotate({
  description: "The event happened between these two instants (inclusive); polling cannot tell exactly when."
})

const sweep = Schema.Int.annotate({ description: "Number of the sweep in this run, from 1." })

export const afterGap = Schema.optionalKey(
  Schema.Literal(true).annotate({
    description:
      "This may have happened while nothing was observed, for example while the daemon did not run. What else happened in that time is unknown."
  })
)

/** A fact about one node. */
const aboutNode = <const Type extends string, const Data extends Schema.Struct.Fields>(type: Type, data: Data) =>
  Schema.Struct({
    subject: Schema.String.annotate({ description: "`nodes/{id}`." }),
    type: Schema.Literal(type),
    data: Schema.Struct({
      ...data,
      observedBetween,
      sweep: Schema.NullOr(sweep).annotate({
        description:
          "Number of the sweep (a read of the whole list) that showed it; null if a read of the single node did."
      }),
      afterGap
    })
  })

/** A fact about the account as a whole. */
const aboutAccount = <const Type extends string, const Data extends Schema.Struct.Fields>(type: Type, data: Data) =>
  Schema.Struct({
    type: Schema.Literal(type),
    data: Schema.Struct({
      ...data,
      sweep: Schema.NullOr(sweep).annotate({
        description: "Number of the last complete sweep; null before the first."
      }),
      afterGap
    })
  })

/** A new node exists. */
const NodeCreated = aboutNode("berth.node.created", { before: Schema.Null, after: Node })

/**
 * An unknown node exists, but it is not new: it was created before it appeared in the list, or it was reported deleted earlier.
 */
const NodeDiscovered = aboutNode("berth.node.discovered", { before: Schema.Null, after: Node })

/** The status of a node changed. Statuses between two observations are unknown. */
const NodeStatusChanged = aboutNode("berth.node.status_changed", {
  from: NodeStatus,
  to: NodeStatus,
  before: Node,
  after: Node
})

/** The fields whose changes are reported. */
export const reportedFields = ["name", "plan", "publicIp", "privateIp", "backups", "locked"] as const

/** The name, plan, address, backup setting or lock of a node changed. */
const NodeChanged = aboutNode("berth.node.changed", {
  fields: Schema.Array(Schema.Literals(reportedFields)).annotate({ description: "What changed." }),
  before: Node,
  after: Node
})

/** A node is gone. */
const NodeDeleted = aboutNode("berth.node.deleted", { before: Node, after: Schema.Null, ...causeFields })

const since = Schema.DateTimeUtc.annotate({ description: "When the status was first seen." })

/** A node has been in transition for longer than such nodes usually are. */
const NodeStuck = aboutNode("berth.node.stuck", { status: NodeStatus, since, after: Node })

/** A node that was stuck has another status. */
const NodeUnstuck = aboutNode("berth.node.unstuck", { status: NodeStatus, since, after: Node })

/** The existing nodes are now known; from now on, events report their changes. */
const WatchBaseline = aboutAccount("berth.watch.baseline", {
  count: Schema.Int.annotate({ description: "Number of nodes." }),
  observedBetween
})

const Trouble = Schema.Literals(["sweep-failed", "list-empty", "nodes-vanished", "other-account"]).annotate({
  description:
    "`sweep-failed`: the list cannot be read, and everything is late. `list-empty`, `nodes-vanished`: the list is " +
    "too short to be believed, and no deletion is reported. `other-account`: the list has none of the nodes that are " +
    "known, after a change of the API key, and nothing is reported."
})
export type Trouble = typeof Trouble.Type

/** The daemon reports less than it should, until `berth.watch.recovered` with the same trouble. */
export const WatchDegraded = aboutAccount("berth.watch.degraded", {
  trouble: Trouble,
  message: Schema.String,
  expected: Schema.Int.annotate({ description: "Nodes that should have been listed." }),
  missing: Schema.Int.annotate({ description: "How many of them were missing; 0 if the list could not be read." })
})

const Ending = Schema.Literals(["reachable", "plausible", "persisted", "same-account"]).annotate({
  description:
    "`reachable`: the list can be read again. `plausible`: the missing nodes are back. `persisted`: those that are " +
    "not back were missing for the whole hold. `same-account`: the list has known nodes."
})
export type Ending = typeof Ending.Type

/** A trouble is over. */
const WatchRecovered = aboutAccount("berth.watch.recovered", {
  trouble: Trouble,
  ending: Ending,
  since: Schema.DateTimeUtc
})

/** All facts about nodes and about watching, in the order of the documentation. */
export const facts = [
  WatchBaseline,
  NodeCreated,
  NodeDiscovered,
  NodeStatusChanged,
  NodeChanged,
  NodeDeleted,
  NodeStuck,
  NodeUnstuck,
  WatchDegraded,
  WatchRecovered
] as const

/**
 * Identifies an event, together with the event's type. It is the same on every replay and in every process, and is never used
 * for another event.
 */
export interface Identity<Version = number> {
  /** Null for facts about the account as a whole; so are `incarnation` and `life`. */
  readonly nodeId: number | null
  /** When the service accepted the node, in seconds since the epoch. It distinguishes two nodes with the same id. */
  readonly incarnation: number | null
  /** Starts at 1, and increases each time the node returns after it was reported deleted. */
  readonly life: number | null
  /** Distinguishes two events of one type. */
  readonly version: Version
}

/** The identity of a fact about the account as a whole. */
export const ofAccount = <Version>(version: Version): Identity<Version> => ({
  nodeId: null,
  incarnation: null,
  life: null,
  version
})

/** The common part of all facts. */
export interface Known<Version = number> {
  readonly identity: Identity<Version>
  /** When the daemon knew of it: the end of `observedBetween`. */
  readonly atMillis: number
}

export type NodeFact = Known &
  (
    | typeof NodeCreated.Type
    | typeof NodeDiscovered.Type
    | typeof NodeStatusChanged.Type
    | typeof NodeChanged.Type
    | typeof NodeDeleted.Type
    | typeof NodeStuck.Type
    | typeof NodeUnstuck.Type
  )

export type Fact =
  | NodeFact
  | (Known & (typeof WatchBaseline.Type | typeof WatchDegraded.Type | typeof WatchRecovered.Type))

/** The type of a fact about a node, and the data that only this type has. */
export type SpecificTo<F> = F extends { readonly type: infer Type; readonly data: infer Data }
  ? { readonly type: Type; readonly data: Omit<Data, "observedBetween" | "sweep" | "afterGap"> }
  : never
