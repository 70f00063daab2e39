/**
 * The commitment endpoint (interface.md §4 note 3).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { CommitmentSetting } from "../domain/Commitment.ts"
import { Authorization } from "./Authorization.ts"
import { failures, success } from "./Envelope.ts"
import { chosen, documented } from "./Provenance.ts"
import { routes } from "./Routes.ts"

/** The body that sets a node's commitment. */
export const CommitmentUpdate = Schema.Struct({
  vcn_id: Schema.Int.annotate(documented("4 note 3", "Id of the node.")),
  node_status: CommitmentSetting.annotate(documented("4 note 3", "What happens when the commitment ends.")),
  committed_plan: Schema.optional(Schema.Int).annotate(
    documented("4 note 3", "committed_sku_id of the plan; an example passes 0 with `auto_terminate`.")
  )
}).annotate({ identifier: "CommitmentUpdate" })
export interface CommitmentUpdate extends Schema.Schema.Type<typeof CommitmentUpdate> {}

const set = HttpApiEndpoint.post("set", routes.commitments.set.path, {
  payload: CommitmentUpdate,
  success: success(
    Schema.Struct({
      vcn_id: Schema.Int,
      node_status: CommitmentSetting,
      committed_plan: Schema.NullOr(Schema.Int)
    }).annotate(chosen(16, "The setting as it now is; `committed_plan` is null without a commitment."))
  ).annotate({ identifier: "CommitmentSet" }),
  error: [failures[400], failures[404], failures[409], failures[413], failures[415], failures[422]]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Set a node's commitment",
    ...documented("4 note 3", "Auto renew, auto terminate, or hourly billing.")
  })
)

export class CommitmentsGroup extends HttpApiGroup.make("commitments")
  .add(set)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Commitments", description: "Reserved periods of nodes." })) {}
