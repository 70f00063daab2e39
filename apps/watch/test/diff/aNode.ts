/** A complete node. A test states only the fields that matter to it. */
import { DateTime } from "effect"
import { Node, NodeId } from "@berthkit/core/domain/Node"

export const nodeId = (id: number): NodeId => NodeId.make(id)

export const aNode = (
  over: { readonly id: number; readonly createdAtMillis?: number } & Partial<Omit<Node, "id">>
): Node => {
  const { createdAtMillis = 0, id, ...rest } = over
  return {
    id: nodeId(id),
    name: `node-${id}`,
    status: "running",
    createdAt: DateTime.makeUnsafe(createdAtMillis),
    vcpus: 1,
    memoryMib: 1024,
    diskGb: 15,
    publicIp: null,
    privateIp: null,
    plan: "A-1VCPU-1RAM-15DISK",
    image: null,
    region: "ncr",
    backups: false,
    locked: null,
    committed: null,
    tags: [],
    extra: {},
    ...rest
  }
}
