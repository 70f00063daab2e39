/**
 * The operations on nodes: how their arguments are checked before anything is sent, the requests that change nodes, and what the engine
 * has to know of each: what its reply may be, how that is read, when it may be sent again.
 */
import { Predicate, Result } from "effect"
import { type CommitmentSetting, commitmentSettings } from "../domain/Commitment.ts"
import type { Node, NodeId } from "../domain/Node.ts"
import type { NodeSpec, Region } from "../domain/NodeSpec.ts"
import { knownStatuses } from "../domain/NodeStatus.ts"
import { commitmentToWire, nodeFromWire, nodeSpecToWire } from "../api/NodeCodec.ts"
import { type CommitmentAsked, commitmentFault, deleteFault, recordOf } from "../api/AskedNode.ts"
import { RecordFault } from "../api/fields/RecordReader.ts"
import type { Lane } from "../domain/Lane.ts"
import {
  argument,
  either,
  fields,
  flag,
  list,
  maxLength,
  min,
  notBlank,
  oneOf,
  optional,
  type Shape,
  text,
  whole
} from "./options/Argument.ts"
import { wire, type WireRequest } from "./transport/Transport.ts"
import { nodeDrift } from "./telemetry/Drift.ts"
import { type ListRecord, readRecords, readSomeRecords } from "./listing/NodePage.ts"
import type { Page } from "./listing/PageRange.ts"
import { many, nothing, one, type Operation } from "./call/Operation.ts"

export const nodeSpecShape: Shape<NodeSpec> = fields<NodeSpec>({
  name: maxLength(255, notBlank),
  plan: notBlank,
  image: either(notBlank, whole),
  region: optional(oneOf<Region>(["ncr"])),
  sshKeys: optional(list(text)),
  tags: optional(list(text)),
  backups: optional(flag),
  savedImageTemplateId: optional(whole),
  committedSkuId: optional(whole),
  label: optional(text),
  securityAgent: optional(flag),
  disablePassword: optional(flag),
  reservedIp: optional(text),
  ipv6: optional(flag),
  vpcId: optional(text),
  publicIp: optional(flag),
  containerId: optional(whole),
  securityGroupId: optional(whole),
  startScripts: optional(list(text))
})

const id = min(1) as Shape<number> as Shape<NodeId>

export const nodeSpec = argument(nodeSpecShape, "spec")
export const nodeId = argument(id, "id")
export const nodeIds = argument(either(id, list(id)), "id")
export const commitmentSetting = argument(oneOf(commitmentSettings), "setting")
export const knownStatus = argument(oneOf(knownStatuses), "wanted")

/** The requests as `NodeCalls.ts` sends them, and as a program shows them before it sends any. */
export const createRequest = (spec: NodeSpec): WireRequest => wire.nodes.create({ payload: nodeSpecToWire(spec) })

export const deleteRequest = (id: NodeId): WireRequest => wire.nodes.delete({ params: { node_id: id } })

export const setCommitmentRequest = (id: NodeId, setting: CommitmentSetting, skuId?: number | undefined): WireRequest =>
  wire.commitments.set({ payload: commitmentToWire(id, setting, skuId) })

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
