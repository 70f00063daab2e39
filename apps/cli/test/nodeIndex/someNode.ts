/**
 * Nodes of a list, for tests: everything that the index holds follows from the id.
 */
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { DateTime, Option } from "effect"
import * as NodeIndex from "../../src/nodeIndex/NodeIndex.ts"

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
  tags: [],
  extra: {}
})

/** A page of a list, as a service with pages of at most `cap` nodes gives it. */
export const pageOf = (list: ReadonlyArray<Node>, page: number, perPage: number, cap = 100): ReadonlyArray<Node> => {
  const size = Math.min(perPage, cap)
  return list.slice((page - 1) * size, page * size)
}

/** The index of a list, as it is after its pages were read. */
export const indexOfList = (list: ReadonlyArray<Node>, perPage = 100): NodeIndex.NodeIndex => {
  const writer = NodeIndex.listWriter()
  for (let page = 1; (page - 1) * perPage < list.length; page++) writer.add(pageOf(list, page, perPage, perPage))
  return Option.getOrThrow(NodeIndex.decode(writer.end()))
}
