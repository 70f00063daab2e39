/**
 * Decides whether a reply is about the requested node, for every call that names a node. A reply about another node or location is refused,
 * because the caller's next step would affect the wrong machine. Pure.
 */
import { Predicate } from "effect"
import { type CommitmentSetting, commitmentSettings } from "../domain/Commitment.ts"
import type { Node, NodeId } from "../domain/Node.ts"
import { integer, unreadable } from "./fields/Field.ts"
import { RecordFault, type ReadRecord } from "./fields/RecordReader.ts"
import { nodeFromWire } from "./NodeCodec.ts"

const anotherNode = (id: NodeId, path: string, got: unknown) => new RecordFault(path, `node ${id}`, got)

/** The location of a record if it differs from the client's; undefined if it does not, or if either is unknown. */
export const otherLocation = (location: string | undefined, stated: Record<string, unknown>): string | undefined => {
  const { location: has } = stated
  if (location === undefined || !Predicate.isString(has) || has.trim() === "") return undefined
  return has.trim().toLowerCase() === location.toLowerCase() ? undefined : has
}

/** What is wrong with a record from another location. */
const elsewhere = (location: string | undefined, stated: Record<string, unknown>): RecordFault | undefined => {
  const has = otherLocation(location, stated)
  return has === undefined ? undefined : new RecordFault("location", `the location ${location}`, has)
}

/** The requested node, and the client's location if it has one. */
export interface Asked {
  readonly id: NodeId
  readonly location: string | undefined
}

/** Reads the record of this node, and refuses any other. */
export const recordOf =
  ({ id, location }: Asked): ReadRecord<Node> =>
  (wire) => {
    const node = nodeFromWire(wire)
    if (node instanceof RecordFault) return node
    return node.id === id ? (elsewhere(location, node.extra) ?? node) : anotherNode(id, "id", node.id)
  }

/** Fields that only node records have. A service may omit some of them. */
const fieldsOfNodes = ["created_at", "plan", "public_ip_address", "private_ip_address", "vm_id"]

/** Whether the data looks like a node record. Otherwise its `id` may be the id of an action. */
const isNode = (stated: Record<string, unknown>) =>
  Predicate.isString(stated["name"]) && fieldsOfNodes.some((name) => stated[name] !== undefined)

/** The places where a reply may state the node: the data, the envelope around it, an element of a list, or a nested node record. */
const statements = (data: unknown, body: unknown): ReadonlyArray<Record<string, unknown>> => {
  const outer = (Array.isArray(data) ? [...data, body] : [data, body]).filter(Predicate.isObject)
  const inner = outer.flatMap((stated) => Object.values(stated).filter(Predicate.isObject))
  return [...outer, ...inner.filter(isNode)]
}

/** The first of these fields that names another node; values that are not ids are ignored. */
const namesAnother = (id: NodeId, record: Record<string, unknown>, fields: ReadonlyArray<string>) => {
  for (const field of fields) {
    const named = integer(record[field])
    if (named !== unreadable && named !== id) return anotherNode(id, field, record[field])
  }
  return undefined
}

/** Says if a reply to a delete is about another node; undefined if it is not. */
export const deleteFault = ({ id, location }: Asked, data: unknown, body: unknown): RecordFault | undefined => {
  for (const stated of statements(data, body)) {
    const fault = namesAnother(id, stated, ["id", "vcn_id", "node_id"]) ?? elsewhere(location, stated)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** The commitment that was requested. */
export interface CommitmentAsked extends Asked {
  readonly setting: CommitmentSetting
  /** Undefined or 0 if no option was requested. */
  readonly skuId: number | undefined
}

/** Says if a reply to a commitment update is about another node or setting; undefined if it is not. */
export const commitmentFault = (
  { id, location, setting, skuId }: CommitmentAsked,
  data: unknown,
  body: unknown
): RecordFault | undefined => {
  for (const stated of statements(data, body)) {
    const fault =
      namesAnother(id, stated, isNode(stated) ? ["vcn_id", "node_id", "id"] : ["vcn_id", "node_id"]) ??
      elsewhere(location, stated)
    if (fault !== undefined) return fault
    const { committed_plan: plan, node_status: set } = stated
    if (set !== setting && commitmentSettings.some((each) => each === set)) {
      return new RecordFault("node_status", setting, set)
    }
    const option = integer(plan)
    if (skuId !== undefined && skuId > 0 && option !== unreadable && option > 0 && option !== skuId) {
      return new RecordFault("committed_plan", `committed option ${skuId}`, plan)
    }
  }
  return undefined
}
