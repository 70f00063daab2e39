import { DateTime } from "effect"
import { type Node, NodeId } from "../src/domain/Node.ts"

/** A node with the given fields and defaults for the rest. */
export const someNode = (id: number, over: Partial<Node> = {}): Node => ({
  id: NodeId.make(id),
  name: `node-${id}`,
  status: "running",
  createdAt: DateTime.makeUnsafe(0),
  vcpus: null,
  memoryMib: null,
  diskGb: null,
  publicIp: null,
  privateIp: null,
  plan: null,
  image: null,
  region: null,
  backups: null,
  locked: null,
  committed: null,
  tags: [],
  extra: {},
  ...over
})
