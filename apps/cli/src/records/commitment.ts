/**
 * The commitment of a node after `berth commitment set`.
 */
import { CommitmentSetting } from "@berthkit/core/domain/Commitment"
import { Node, NodeId } from "@berthkit/core/domain/Node"
import { Schema } from "effect"
import { numberOr } from "../output/format.ts"
import { recordOf } from "../output/RecordDescriptor.ts"

/** The effect of each setting at the end of the commitment (A17). */
export const endOfCommitment: Record<CommitmentSetting, string> = {
  auto_renew: "at its end the commitment is renewed",
  auto_terminate: "at its end the node is terminated",
  hourly_billing: "at its end the node is billed by the hour"
}

const Commitment = Schema.Struct({
  id: NodeId,
  name: Schema.String,
  setting: CommitmentSetting,
  skuId: Schema.NullOr(Schema.Int).annotate({ description: "The committed option that was passed; null without one." }),
  node: Node
})

export const commitmentRecord = recordOf(Commitment, { none: "no commitments" }, [
  { key: "id", title: "ID", value: ({ id }) => String(id) },
  { key: "name", title: "NAME", value: ({ name }) => name },
  { key: "setting", title: "SETTING", value: ({ setting }) => setting },
  { key: "outcome", title: "OUTCOME", value: ({ setting }) => endOfCommitment[setting] },
  { key: "skuId", title: "SKU", value: ({ skuId }) => numberOr(skuId) }
])
