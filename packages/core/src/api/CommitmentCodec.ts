/**
 * From the domain to the wire for commitments: writes the setting of a node's commitment as the body that sets it.
 */
import type { CommitmentSetting } from "../domain/Commitment.ts"
import type { NodeId } from "../domain/Node.ts"
import type { CommitmentUpdate } from "./CommitmentsGroup.ts"

/** The body that sets a commitment. Without `skuId` the field is not sent (interface.md §4 note 3). */
export const commitmentToWire = (
  nodeId: NodeId,
  setting: CommitmentSetting,
  skuId?: number | undefined
): CommitmentUpdate => ({
  vcn_id: nodeId,
  node_status: setting,
  ...(skuId !== undefined && { committed_plan: skuId })
})
