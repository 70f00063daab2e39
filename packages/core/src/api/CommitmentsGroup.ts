/**
 * The commitment endpoint (interface.md §4 note 3).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { CommitmentSetting } from "../domain/Commitment.ts"
import { Authorization } from "./Authorization.ts"
import { describe } from "./Document.ts"
import { failures, success } from "./Envelope.ts"
import * as examples from "./Examples.ts"
import { chosen, documented, wholeNumber } from "./Stated.ts"
import { routes } from "./Routes.ts"

/** The body that sets a node's commitment. */
export const CommitmentUpdate = Schema.Struct({
  vcn_id: wholeNumber(1).annotate(documented("4 note 3", "Id of the node.")),
  node_status: CommitmentSetting.annotate(documented("4 note 3", "What happens when the commitment ends.")),
  committed_plan: Schema.optional(wholeNumber(0)).annotate(
    documented("4 note 3", "committed_sku_id of the plan; an example passes 0 with `auto_terminate`.")
  )
}).annotate({ identifier: "CommitmentUpdate" })
export interface CommitmentUpdate extends Schema.Schema.Type<typeof CommitmentUpdate> {}

const set = HttpApiEndpoint.post("set", routes.commitments.set.path, {
  payload: CommitmentUpdate,
  success: success(
    Schema.Struct({
      vcn_id: wholeNumber(1),
      node_status: CommitmentSetting,
      committed_plan: Schema.NullOr(wholeNumber(1))
    }).annotate(chosen(16, "`committed_plan` is null without a commitment."))
  ).annotate({ identifier: "CommitmentSet", ...chosen(16, "The new setting.") }),
  error: [failures[404], failures[409], failures[415], failures[422]]
}).annotateMerge(
  describe({
    summary: "Set a node's commitment",
    ...documented("4 note 3", "Auto renew, auto terminate, or hourly billing."),
    example: examples.setCommitment
  })
)

export class CommitmentsGroup extends HttpApiGroup.make("commitments")
  .add(set)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Commitments", description: "Reserved periods of nodes." })) {}
