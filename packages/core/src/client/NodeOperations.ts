/**
 * The operations on nodes: the validation of their arguments, their requests, and their descriptions for the engine. A description says
 * which replies are allowed, how to read them, and when a request may be repeated.
 */
import { Predicate, Result } from "effect"
import { type CommitmentSetting, commitmentSettings } from "../domain/Commitment.ts"
import type { Node, NodeId } from "../domain/Node.ts"
import type { NodeSpec, Region } from "../domain/NodeSpec.ts"
import { knownStatuses } from "../domain/NodeStatus.ts"
import {
  commitmentToWire,
  createdRecord,
  extraFault,
  nodeFromWire,
  nodeIdOf,
  nodeSpecToWire,
  type SeveralNodes,
  type UnreadNode
} from "../api/NodeCodec.ts"
import { type Asked, type CommitmentAsked, commitmentFault, deleteFault, recordOf } from "../api/AskedNode.ts"
import { wholeNumber } from "../api/AllowanceHeaders.ts"
import { unreadable } from "../api/fields/Field.ts"
import { RecordFault } from "../api/fields/RecordReader.ts"
import type { Lane } from "../domain/Lane.ts"
import {
  argument,
  either,
  fields,
  flag,
  json,
  list,
  maxLength,
  min,
  notBlank,
  oneOf,
  optional,
  record,
  type Shape,
  text,
  where,
  whole
} from "./options/Argument.ts"
import { wire, type WireRequest } from "./transport/Transport.ts"
import type * as Drift from "./telemetry/Drift.ts"
import { type ListRecord, readRecords, readSomeRecords } from "./listing/NodePage.ts"
import { statesWhole, type Totals } from "./listing/Bounds.ts"
import type { Page } from "./listing/PageRange.ts"
import type { NodesOfPage } from "./creation/Watermark.ts"
import { many, nothing, one, type Operation } from "./call/Operation.ts"

/**
 * An SSH key for a create at a service that has projects. Such a service also accepts an id or a fingerprint, but then
 * installs no key, and nobody could log in to the node that the account pays for.
 */
const publicKey = where(notBlank, "the text of a public key", (key) =>
  /^\s*(?:$|(?:sk-)?(?:ssh|ecdsa)-\S+\s+[A-Za-z0-9+/]{16,}={0,2}(?:\s|$))/.test(key)
)

/** An SSH key for a create at another service. A path or an empty string is refused, because nobody could log in. */
const keyOrId = where(
  notBlank,
  "a public key, its fingerprint or its id, not a path",
  (key) => !/^[~./]|\.pub$/.test(key)
)

const shapeWith = (sshKey: Shape<string>) =>
  fields<NodeSpec>({
    name: maxLength(255, notBlank),
    plan: notBlank,
    image: either(notBlank, whole),
    region: optional(oneOf<Region>(["ncr"])),
    sshKeys: optional(list(sshKey)),
    tags: optional(list(text)),
    backups: optional(flag),
    savedImageTemplateId: optional(whole),
    committedSkuId: optional(whole),
    commitmentSetting: optional(oneOf(commitmentSettings)),
    disk: optional(min(1)),
    label: optional(text),
    securityAgent: optional(flag),
    disablePassword: optional(flag),
    reservedIp: optional(text),
    ipv6: optional(flag),
    vpcId: optional(text),
    publicIp: optional(flag),
    containerId: optional(whole),
    securityGroupId: optional(whole),
    startScripts: optional(list(text)),
    extra: optional(record(json, extraFault))
  })

export const nodeSpecShape: Shape<NodeSpec> = shapeWith(keyOrId)

const id = min(1) as Shape<number> as Shape<NodeId>

/** Checks a spec. `isPlaceSet` says whether the client is for one project of the account. */
export const nodeSpec = (spec: unknown, isPlaceSet: boolean) =>
  argument(isPlaceSet ? shapeWith(publicKey) : nodeSpecShape, "spec")(spec)

export const nodeId = argument(id, "id")
export const nodeIds = argument(either(id, list(id)), "id")
export const commitmentSetting = argument(oneOf(commitmentSettings), "setting")
export const knownStatus = argument(oneOf(knownStatuses), "wanted")

/** The requests that `NodeCalls.ts` sends. Programs that show a request before sending it use them too. */
export const createRequest = (spec: NodeSpec): WireRequest => wire.nodes.create({ payload: nodeSpecToWire(spec) })

export const deleteRequest = (id: NodeId, keepPublicIp = false): WireRequest => {
  // This parameter is not in the documented interface.
  const further = { query: { reserve_ip_required: keepPublicIp || undefined } }
  return wire.nodes.delete({ params: { node_id: id }, ...further })
}

export const setCommitmentRequest = (id: NodeId, setting: CommitmentSetting, skuId?: number | undefined): WireRequest =>
  wire.commitments.set({ payload: commitmentToWire(id, setting, skuId) })

const nodeDrift = (drift: typeof Drift) => drift.nodeDrift

const driftOfOne = (drift: typeof Drift) => (node: Node) => drift.nodeDrift([node])

/** The nodes that a reply to a create may state. */
export type StatedNode = Node | UnreadNode | SeveralNodes

/** `faultOf` says why a node cannot be the reply to this create. */
export const createNode = (faultOf: (node: StatedNode) => RecordFault | undefined): Operation<Node> => ({
  name: "nodes.create",
  lane: "mutation",
  repeatable: "once",
  expectation: {},
  decode: one((data) => {
    const created = createdRecord(data) ?? { record: data }
    if ("ids" in created) return faultOf(created) ?? created.fault
    const { record } = created
    const node = nodeFromWire(record)
    if (!(node instanceof RecordFault)) return faultOf(node) ?? node
    const id = nodeIdOf(record)
    return id === unreadable ? node : (faultOf({ id, fault: node }) ?? node)
  }),
  drift: driftOfOne
})

const listing = (lane: Lane) =>
  ({ name: "nodes.list", lane, repeatable: "idempotent", expectation: { list: true } }) as const

const allNodes = many(nodeFromWire)

/** The numbers of nodes and of pages, which some services report around the records, as numbers or as strings (A7). */
export const totalsIn = (body: unknown): Totals => {
  const { total_count: total, total_page_number: pages } = Predicate.isObject(body) ? body : {}
  const numberOf = (stated: unknown) =>
    Predicate.isNumber(stated) ? stated : Predicate.isString(stated) ? (wholeNumber(stated) ?? null) : null
  return { total: numberOf(total), pages: numberOf(pages) }
}

/** A page whose records must all be readable, because an unreadable record may be the node that a create has made. */
export const listNodes: Operation<NodesOfPage> = {
  ...listing("mutation"),
  decode: (data, body) => Result.map(allNodes(data), (nodes) => ({ nodes, ...totalsIn(body) })),
  drift: (drift) => {
    const driftOf = nodeDrift(drift)
    return ({ nodes }) => driftOf(nodes)
  }
}

/** A page for listings. They count drift (unexpected values) themselves, because pages overlap and repeat nodes. */
export const readList: Operation<Page> = {
  ...listing("sweep"),
  decode: (data, body) =>
    Result.map(readRecords(data), (records) => {
      const totals = totalsIn(body)
      return { records, isWhole: statesWhole(totals, records.length), total: totals.total }
    })
}

/** What `listNodes` and `readList` return for a page that the service answers with 404. */
export const missingPage: NodesOfPage & Page = {
  nodes: [],
  records: [],
  isWhole: false,
  ...totalsIn({}),
  isMissing: true
}

/** The nodes of a page. Records that are left out count as drift. */
export const listPage: Operation<ReadonlyArray<ListRecord>> = {
  ...listing("interactive"),
  decode: readSomeRecords,
  drift: nodeDrift
}

export const getNode = (asked: Asked): Operation<Node> => ({
  name: "nodes.get",
  lane: "interactive",
  repeatable: "idempotent",
  expectation: { nodeId: asked.id },
  decode: one(recordOf(asked)),
  drift: driftOfOne
})
export const deleteNode = (asked: Asked): Operation<void> => ({
  name: "nodes.delete",
  lane: "mutation",
  repeatable: "idempotent",
  expectation: { nodeId: asked.id, emptyAllowed: true },
  afterwards: { nodeId: asked.id, emptyAllowed: true, goneIsDone: true },
  decode: nothing((data, body) => deleteFault(asked, data, body))
})
export const setNodeCommitment = (asked: CommitmentAsked): Operation<void> => ({
  name: "commitments.set",
  lane: "mutation",
  // A second request may begin, or choose, another committed period (A17).
  repeatable: "once",
  expectation: { nodeId: asked.id, emptyAllowed: true },
  decode: nothing((data, body) => commitmentFault(asked, data, body))
})
