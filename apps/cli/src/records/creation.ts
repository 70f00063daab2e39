/**
 * A node after `berth node create`: its record, and whether this command created it.
 */
import { Node } from "@berthkit/core/domain/Node"
import { Schema } from "effect"
import { type Field, jsonOf, type RecordDescriptor } from "../output/RecordDescriptor.ts"
import { nodeRecord } from "./node.ts"

const Creation = Schema.Struct({
  ...Node.fields,
  outcome: Schema.Literals(["created", "adopted", "existing"]).annotate({
    description:
      "`created` by this command; `adopted`: an earlier create with the same key, or one whose reply was lost, made it; `existing`: it was there, with --if-absent."
  })
})
export interface Creation extends Schema.Schema.Type<typeof Creation> {}

const outcome: Field<Creation> = { key: "outcome", title: "OUTCOME", value: ({ outcome }) => outcome }

export const creationRecord: RecordDescriptor<Creation> = {
  ...jsonOf(Creation),
  fields: (creations) => [...nodeRecord.fields(creations), outcome],
  none: "no nodes to create"
}
