/**
 * The operations on nodes, as the engine sees them: what their replies may be, how they are read, when they may be sent again.
 */
import { Predicate, Result } from "effect"
import { unreadable } from "../api/fields/Field.ts"
import { RecordFault } from "../api/fields/RecordReader.ts"
import { nodeFromWire, nodeIdOf } from "../api/NodeCodec.ts"
import type { Lane } from "../domain/Lane.ts"
import type { Node, NodeId } from "../domain/Node.ts"
import { nodeDrift } from "./telemetry/Drift.ts"
import type { Page } from "./listing/PageRange.ts"
import { many, nothing, one, type Operation } from "./call/Operation.ts"

const readNodes = many(nodeFromWire)

/**
 * Some services of the family report the number of nodes and of pages (decision 7). Believed where both agree with the reply:
 * either alone may be the length, or the number, of this page.
 */
const isWhole = (nodes: ReadonlyArray<Node>, body: unknown): boolean =>
  Predicate.isObject(body) && body["total_count"] === nodes.length && body["total_page_number"] === 1

const readNode = one(nodeFromWire)
const driftOfOne = (node: Node) => nodeDrift([node])

/** `faultOf` finds what is wrong with a node as the reply to this very create. */
export const createNode = (faultOf: (node: Node) => RecordFault | undefined = () => undefined): Operation<Node> => ({
  name: "nodes.create",
  lane: "mutation",
  repeatable: "create",
  expectation: {},
  decode: one((record) => {
    const node = nodeFromWire(record)
    return node instanceof RecordFault ? node : (faultOf(node) ?? node)
  }),
  drift: driftOfOne
})
export const listNodes = (lane: Lane): Operation<Page> => ({
  ...readList(lane),
  drift: ({ nodes }) => nodeDrift(nodes)
})
/** A page of a listing, which counts the drift itself: pages overlap, and have nodes that were given before. */
export const readList = (lane: Lane): Operation<Page> => ({
  name: "nodes.list",
  lane,
  repeatable: "idempotent",
  expectation: { list: true },
  decode: (data, body) => Result.map(readNodes(data), (nodes) => ({ nodes, isWhole: isWhole(nodes, body) }))
})
/** A record of a page that is no node that can be read; its id where it has one. */
export interface UnreadableRecord {
  readonly _tag: "UnreadableRecord"
  readonly id: NodeId | null
}

const readAny = (record: unknown): Node | UnreadableRecord => {
  const node = nodeFromWire(record)
  if (!(node instanceof RecordFault)) return node
  const id = nodeIdOf(record)
  return { _tag: "UnreadableRecord", id: id === unreadable ? null : id }
}

/** A page whose unreadable records do not fail it, in its order. */
export const readPage = (lane: Lane): Operation<ReadonlyArray<Node | UnreadableRecord>> => ({
  name: "nodes.list",
  lane,
  repeatable: "idempotent",
  expectation: { list: true },
  decode: many(readAny)
})
export const getNode = (nodeId: NodeId): Operation<Node> => ({
  name: "nodes.get",
  lane: "interactive",
  repeatable: "idempotent",
  expectation: { nodeId },
  decode: readNode,
  drift: driftOfOne
})
export const deleteNode = (nodeId: NodeId): Operation<void> => ({
  name: "nodes.delete",
  lane: "mutation",
  repeatable: "idempotent",
  expectation: { nodeId, emptyAllowed: true },
  afterwards: { nodeId, emptyAllowed: true, goneIsDone: true },
  decode: nothing
})
export const setNodeCommitment = (nodeId: NodeId): Operation<void> => ({
  name: "commitments.set",
  lane: "mutation",
  repeatable: "idempotent",
  expectation: { nodeId, emptyAllowed: true },
  decode: nothing
})
