/**
 * The outcome of a command for one of its nodes. Each node has a row.
 */
import { Node, NodeId } from "@berthkit/core/domain/Node"
import { Schema } from "effect"
import type { Problem } from "../failure/Problem.ts"
import { textOr } from "../output/format.ts"
import { type Field, jsonOf, number, type RecordDescriptor } from "../output/RecordDescriptor.ts"
import { statusStyle } from "./node.ts"

const Outcome = Schema.Struct({
  id: Schema.NullOr(NodeId),
  name: Schema.NullOr(Schema.String).annotate({ description: "The node's name; null if it is not known." }),
  outcome: Schema.String.annotate({ description: "Such as `running` or `deleted`; `failed` when there is an error." }),
  node: Schema.NullOr(Node).annotate({ description: "The node as last seen, if it was seen." })
})

export interface NodeResult extends Schema.Schema.Type<typeof Outcome> {
  /** Shown in tables only; programs read errors on stderr. */
  readonly error: Problem | null
}

const fields: ReadonlyArray<Field<NodeResult>> = [
  number("id", "ID"),
  { key: "name", title: "NAME", value: ({ name }) => textOr(name), shrinkTo: 12 },
  {
    key: "outcome",
    title: "RESULT",
    value: ({ outcome }) => outcome,
    style: ({ error, node }) => (error !== null ? "bad" : node === null ? undefined : statusStyle(node.status))
  }
]

const why: Field<NodeResult> = {
  key: "error",
  title: "WHY",
  value: ({ error }) => textOr(error?.message ?? null),
  shrinkTo: 20
}

export const outcomeRecord: RecordDescriptor<NodeResult> = {
  ...jsonOf(Outcome),
  fields: (outcomes) =>
    outcomes.length === 0 || outcomes.some(({ error }) => error !== null) ? [...fields, why] : fields,
  none: "no such nodes"
}
