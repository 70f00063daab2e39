/**
 * A proposal of an agent that a person has approved.
 */
import { Schema } from "effect"
import { recordOf } from "../output/RecordDescriptor.ts"

const Approval = Schema.Struct({
  id: Schema.String.annotate({ description: "Of the proposal." }),
  action: Schema.Literals(["create", "delete", "set-commitment"]),
  name: Schema.String.annotate({ description: "Name of the node." }),
  expiresAt: Schema.String.annotate({ description: "Until when it may be carried out." }),
  outcome: Schema.Literal("approved")
})

export const approvalRecord = recordOf(Approval, { none: "no approvals" }, [
  { key: "id", title: "ID", value: ({ id }) => id },
  { key: "action", title: "ACTION", value: ({ action }) => action },
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12 },
  { key: "expiresAt", title: "UNTIL", value: ({ expiresAt }) => expiresAt },
  { key: "outcome", title: "OUTCOME", value: ({ outcome }) => outcome }
])
