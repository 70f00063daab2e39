/**
 * The events as they are told: CloudEvents 1.0 in JSON. What they are made from are the facts of `diff/`.
 */
import { Schema } from "effect"
import { Node } from "@berth/core/domain/Node"
import { NodeStatus } from "@berth/core/domain/NodeStatus"

/** Digits of `sequence`: as text, sequences sort the way the numbers do. */
const sequenceDigits = 16

export const sequenceText = (sequence: number): string => String(sequence).padStart(sequenceDigits, "0")

const ObservedBetween = Schema.Tuple([Schema.DateTimeUtc, Schema.DateTimeUtc]).annotate({
  description: "What is told happened in between: polling sees samples."
})

const SweepNumber = Schema.Int.annotate({ description: "Number of the sweep in this run, from 1." })

/** What the data of every event about a node has. */
const observed = {
  observedBetween: ObservedBetween,
  sweep: Schema.NullOr(SweepNumber).annotate({
    description: "Number of the sweep that showed it; null when a single look at the node did."
  })
}

/** The attributes every event has. `id` is the same on every replay. */
const attributes = {
  specversion: Schema.Literal("1.0"),
  id: Schema.String,
  source: Schema.String.annotate({ description: "`/accounts/{name}`." }),
  sequence: Schema.String.annotate({ description: "Place in the order of telling, zero-padded." }),
  time: Schema.DateTimeUtc.annotate({ description: "When it was known: the end of `observedBetween`." }),
  datacontenttype: Schema.Literal("application/json")
}

const subject = Schema.String.annotate({ description: "`nodes/{id}`." })

/** A node is there that was not there before. */
const NodeCreated = Schema.Struct({
  ...attributes,
  subject,
  type: Schema.Literal("berth.node.created"),
  data: Schema.Struct({ before: Schema.Null, after: Node, ...observed })
}).annotate({ identifier: "NodeCreated" })

/** A node has another status. Statuses it passed through unseen are not known. */
const NodeStatusChanged = Schema.Struct({
  ...attributes,
  subject,
  type: Schema.Literal("berth.node.status_changed"),
  data: Schema.Struct({ from: NodeStatus, to: NodeStatus, before: Node, after: Node, ...observed })
}).annotate({ identifier: "NodeStatusChanged" })

/** A node is gone. */
const NodeDeleted = Schema.Struct({
  ...attributes,
  subject,
  type: Schema.Literal("berth.node.deleted"),
  data: Schema.Struct({ before: Node, after: Schema.Null, ...observed })
}).annotate({ identifier: "NodeDeleted" })

/** The nodes that were there when the daemon first saw the whole list. Later events tell what became of them. */
const WatchBaseline = Schema.Struct({
  ...attributes,
  type: Schema.Literal("berth.watch.baseline"),
  data: Schema.Struct({
    nodes: Schema.Array(Node),
    observedBetween: ObservedBetween,
    sweep: SweepNumber
  })
}).annotate({ identifier: "WatchBaseline" })

const Trouble = Schema.Literals(["sweep-failed", "list-empty", "nodes-vanished"]).annotate({
  description:
    "`sweep-failed`: the list cannot be read, and everything is late. `list-empty`, `nodes-vanished`: the list is " +
    "too short to be believed, and no deletion is told."
})

/** The daemon says less than it should, until `berth.watch.recovered` with the same trouble. */
const WatchDegraded = Schema.Struct({
  ...attributes,
  type: Schema.Literal("berth.watch.degraded"),
  data: Schema.Struct({
    trouble: Trouble,
    message: Schema.String,
    expected: Schema.Int.annotate({ description: "Nodes that should have been listed." }),
    missing: Schema.Int.annotate({ description: "How many of them were not; 0 when the list could not be read." }),
    sweep: SweepNumber
  })
}).annotate({ identifier: "WatchDegraded" })

/** A trouble is over. */
const WatchRecovered = Schema.Struct({
  ...attributes,
  type: Schema.Literal("berth.watch.recovered"),
  data: Schema.Struct({
    trouble: Trouble,
    ending: Schema.Literals(["reachable", "plausible", "confirmed", "persisted"]).annotate({
      description:
        "`reachable`: the list can be read again. `plausible`: enough of it is there again. `confirmed`: the missing " +
        "nodes are gone, each by its own 404. `persisted`: the list stayed as it is for the whole hold."
    }),
    since: Schema.DateTimeUtc,
    sweep: SweepNumber
  })
}).annotate({ identifier: "WatchRecovered" })

/** Everything the daemon tells. */
export const Event = Schema.Union([
  NodeCreated,
  NodeStatusChanged,
  NodeDeleted,
  WatchBaseline,
  WatchDegraded,
  WatchRecovered
])
export type Event = typeof Event.Type

const toJson = Schema.encodeSync(Schema.fromJsonString(Schema.toCodecJson(Event)))

/** One event as one line of NDJSON, with its line feed. */
export const toLine = (event: Event): string => `${toJson(event)}\n`
