/**
 * The requests that change nodes, as `NodeCalls.ts` sends them and as a program shows them before it sends any.
 */
import { commitmentToWire } from "../api/CommitmentCodec.ts"
import { nodeSpecToWire } from "../api/NodeCodec.ts"
import type { CommitmentSetting } from "../domain/Commitment.ts"
import type { NodeId } from "../domain/Node.ts"
import type { NodeSpec } from "../domain/NodeSpec.ts"
import type { WireRequest } from "./transport/Transport.ts"
import { wire } from "./transport/Wire.ts"

export const createRequest = (spec: NodeSpec): WireRequest => wire.nodes.create({ payload: nodeSpecToWire(spec) })

export const deleteRequest = (id: NodeId): WireRequest => wire.nodes.delete({ params: { node_id: id } })

export const setCommitmentRequest = (id: NodeId, setting: CommitmentSetting, skuId?: number | undefined): WireRequest =>
  wire.commitments.set({ payload: commitmentToWire(id, setting, skuId) })
