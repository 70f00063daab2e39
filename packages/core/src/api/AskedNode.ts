/**
 * Whether a reply is about the node that was asked for. The one place that decides it, for every call that names a node: a reply about
 * another one, or one of another location, is a violation of the interface, because what follows would be done to the wrong machine. Pure.
 */
import { Predicate } from "effect"
import { type CommitmentSetting, commitmentSettings } from "../domain/Commitment.ts"
import type { Node, NodeId } from "../domain/Node.ts"
import { integer, unreadable } from "./fields/Field.ts"
import { RecordFault, type ReadRecord } from "./fields/RecordReader.ts"
import { nodeFromWire } from "./NodeCodec.ts"

const anotherNode = (id: NodeId, path: string, got: unknown) => new RecordFault(path, `node ${id}`, got)

/** The location that a record states if it is not that of the client; undefined if it is, or either of them has none. */
export const otherLocation = (location: string | undefined, stated: Record<string, unknown>): string | undefined => {
  const { location: has } = stated
  return location === undefined || !Predicate.isString(has) || has.trim().toLowerCase() === location.toLowerCase()
    ? undefined
    : has
}

/** Why a record is not of the client's location. */
const elsewhere = (location: string | undefined, stated: Record<string, unknown>): RecordFault | undefined => {
  const has = otherLocation(location, stated)
  return has === undefined ? undefined : new RecordFault("location", `the location ${location}`, has)
}

/** Which node is asked for, and where: the location of the client, if it is for one. */
export interface Asked {
  readonly id: NodeId
  readonly location: string | undefined
}

/** Reads the record of this node, and no other. */
export const recordOf =
  ({ id, location }: Asked): ReadRecord<Node> =>
  (wire) => {
    const node = nodeFromWire(wire)
    if (node instanceof RecordFault) return node
    return node.id === id ? (elsewhere(location, node.extra) ?? node) : anotherNode(id, "id", node.id)
  }

/** Fields that only records of nodes have. Some services leave out any of them. */
const fieldsOfNodes = ["created_at", "plan", "public_ip_address", "private_ip_address", "vm_id"]

/** Whether it reads as the record of a node: its `id` is that of the node, and not of what was done. */
const isNode = (stated: Record<string, unknown>) =>
  Predicate.isString(stated["name"]) && fieldsOfNodes.some((name) => stated[name] !== undefined)

/** What a reply without a record may state: the data, what is around it, an element of it, or a node within it. */
const statements = (data: unknown, body: unknown): ReadonlyArray<Record<string, unknown>> => {
  const outer = (Array.isArray(data) ? [...data, body] : [data, body]).filter(Predicate.isObject)
  const inner = outer.flatMap((stated) => Object.values(stated).filter(Predicate.isObject))
  return [...outer, ...inner.filter(isNode)]
}

/** The first of these fields that names another node; what is no id names none. */
const namesAnother = (id: NodeId, record: Record<string, unknown>, fields: ReadonlyArray<string>) => {
  for (const field of fields) {
    const named = integer(record[field])
    if (named !== unreadable && named !== id) return anotherNode(id, field, record[field])
  }
  return undefined
}

/** Why the reply to a delete of this node is not about it; undefined where it is, or states nothing. */
export const deleteFault = ({ id, location }: Asked, data: unknown, body: unknown): RecordFault | undefined => {
  for (const stated of statements(data, body)) {
    const fault = namesAnother(id, stated, ["id", "vcn_id", "node_id"]) ?? elsewhere(location, stated)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** What a commitment is set to. */
export interface CommitmentAsked extends Asked {
  readonly setting: CommitmentSetting
  /** Undefined or 0 where no option was asked for. */
  readonly skuId: number | undefined
}

/** Why the reply to a commitment update is not about this node and setting; undefined where it is, or states nothing. */
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
