/** Nodes of a list, for tests. Their fields follow from the id. */
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { DateTime } from "effect"

export const someNode = (id: number, name = `node-${id}`): Node => ({
  id: id as NodeId,
  name,
  status: "running",
  createdAt: DateTime.makeUnsafe(1_767_225_600_000 + id),
  vcpus: 2,
  memoryMib: 8192,
  diskGb: 50,
  publicIp: null,
  privateIp: null,
  plan: `plan-${id % 3}`,
  image: null,
  region: "ncr",
  backups: false,
  locked: null,
  committed: null,
  tags: [],
  extra: {}
})
