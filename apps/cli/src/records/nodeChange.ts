/**
 * An event of `berth node watch`: a node that appeared, disappeared, or changed its status.
 */
import { Node } from "@berthkit/core/domain/Node"
import { label, type NodeStatus } from "@berthkit/core/domain/NodeStatus"
import { DateTime, Schema, Struct } from "effect"
import { number, recordOf } from "../output/RecordDescriptor.ts"
import { statusStyle } from "./node.ts"

const NodeChange = Schema.Struct({
  at: Schema.DateTimeUtc.annotate({ description: "When the read that shows the change ended." }),
  ...Struct.pick(Node.fields, ["id", "name"]),
  from: Schema.NullOr(Node.fields.status).annotate({ description: "Null for a node that is new." }),
  to: Schema.NullOr(Node.fields.status).annotate({ description: "Null for a node that is gone." })
})
export interface NodeChange extends Schema.Schema.Type<typeof NodeChange> {}

const styleOf = (status: NodeStatus | null) => (status === null ? undefined : statusStyle(status))

/**
 * The name comes last, because rows are printed one by one and the longest name is unknown. Even on a terminal of 40 columns, the name and
 * the new status are shown.
 */
export const nodeChangeRecord = recordOf(NodeChange, { none: "no changes" }, [
  { key: "at", title: "AT", value: ({ at }) => `${DateTime.formatIso(at).slice(0, 19)}Z`, minWidth: 20, dropOrder: 1 },
  number("id", "ID", { minWidth: 6 }),
  { key: "from", title: "FROM", value: ({ from }) => (from === null ? "new" : label(from)), minWidth: 9, dropOrder: 2 },
  {
    key: "to",
    title: "TO",
    value: ({ to }) => (to === null ? "gone" : label(to)),
    style: ({ to }) => styleOf(to),
    minWidth: 9
  },
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 10, minWidth: 10 }
])
