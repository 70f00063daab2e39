/**
 * The operations on nodes, as the engine sees them: what their replies may be, how they are read, when they may be sent again.
 */
import { Predicate, Result } from "effect"
import { type CommitmentAsked, commitmentFault, deleteFault, recordOf } from "../api/AskedNode.ts"
import { RecordFault } from "../api/fields/RecordReader.ts"
import { nodeFromWire } from "../api/NodeCodec.ts"
import type { Lane } from "../domain/Lane.ts"
import type { Node, NodeId } from "../domain/Node.ts"
import { nodeDrift } from "./telemetry/Drift.ts"
import { type ListRecord, readRecords, readSomeRecords } from "./listing/NodePage.ts"
import type { Page } from "./listing/PageRange.ts"
import { many, nothing, one, type Operation } from "./call/Operation.ts"

const driftOfOne = (node: Node) => nodeDrift([node])

/** `faultOf` finds what is wrong with a node as the reply to this very create. */
export const createNode = (faultOf: (node: Node) => RecordFault | undefined): Operation<Node> => ({
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

const listing = (lane: Lane) =>
  ({ name: "nodes.list", lane, repeatable: "idempotent", expectation: { list: true } }) as const

/** A page all of whose records have to be read: where one is set aside, it cannot be told what a create has made. */
export const listNodes: Operation<ReadonlyArray<Node>> = {
  ...listing("mutation"),
  decode: many(nodeFromWire),
  drift: nodeDrift
}

/**
 * A page of a listing, which counts the drift itself: pages overlap, and have nodes that were given before. The page is whole where
 * both totals agree with it: either alone may be the length, or the number, of this page.
 */
export const readList: Operation<Page> = {
  ...listing("sweep"),
  decode: (data, body) =>
    Result.map(readRecords(data), (records) => {
      // What some services of the family report around the records: the number of nodes and of pages (A7).
      const { total_count: total, total_page_number: pages } = Predicate.isObject(body) ? body : {}
      return {
        records,
        isWhole: total === records.length && pages === 1,
        total: Predicate.isNumber(total) ? total : null
      }
    })
}

/** The nodes of a page, which counts as drift what it leaves out. */
export const listPage: Operation<ReadonlyArray<ListRecord>> = {
  ...listing("interactive"),
  decode: readSomeRecords,
  drift: nodeDrift
}

/** A page as it is, in its order. */
export const readPage: Operation<ReadonlyArray<ListRecord>> = { ...listing("sweep"), decode: readRecords }

export const getNode = (nodeId: NodeId): Operation<Node> => ({
  name: "nodes.get",
  lane: "interactive",
  repeatable: "idempotent",
  expectation: { nodeId },
  decode: one(recordOf(nodeId)),
  drift: driftOfOne
})
export const deleteNode = (nodeId: NodeId): Operation<void> => ({
  name: "nodes.delete",
  lane: "mutation",
  repeatable: "idempotent",
  expectation: { nodeId, emptyAllowed: true },
  afterwards: { nodeId, emptyAllowed: true, goneIsDone: true },
  decode: nothing((data, body) => deleteFault(nodeId, data, body))
})
export const setNodeCommitment = (asked: CommitmentAsked): Operation<void> => ({
  name: "commitments.set",
  lane: "mutation",
  repeatable: "idempotent",
  expectation: { nodeId: asked.id, emptyAllowed: true },
  decode: nothing((data, body) => commitmentFault(asked, data, body))
})
