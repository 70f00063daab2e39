/**
 * Converts nodes between wire and domain: reads any of the three record shapes from any endpoint, field by field (A8), and writes the
 * bodies of a create and of a commitment update.
 */
import { Predicate } from "effect"
import { oneNodeMade } from "../domain/ErrorReason.ts"
import type { Node, NodeId } from "../domain/Node.ts"
import type { NodeSpec } from "../domain/NodeSpec.ts"
import type { CommitmentSetting } from "../domain/Commitment.ts"
import { address, furtherNetwork } from "./fields/Address.ts"
import { committedOf } from "./fields/Committed.ts"
import { diskGb } from "./fields/Disk.ts"
import { cached, count, type Field, flag, integer, optionalText, text, unreadable } from "./fields/Field.ts"
import { memoryMib } from "./fields/Memory.ts"
import { status } from "./fields/Status.ts"
import { placeParameters } from "./Routes.ts"
import { timestamp } from "./fields/Timestamp.ts"
import type { NodeCreation } from "./NodeRecords.ts"
import { keepUnknown, read, type ReadRecord, RecordFault } from "./fields/RecordReader.ts"
import type { CommitmentUpdate } from "./CommitmentsGroup.ts"

/**
 * The known fields. The fields of list records come first, in the order in which the service sends them, because this makes `keepUnknown`
 * faster. The fields of the other shapes follow.
 */
const known: ReadonlyArray<string> = [
  "id",
  "name",
  "created_at",
  "public_ip_address",
  "private_ip_address",
  "backup",
  "disk",
  "status",
  "vcpus",
  "memory",
  "plan",
  "region",
  "is_locked",
  "locked",
  "backups",
  "backup_ids",
  "image",
  "tags"
]

const nodeId: Field<NodeId> = (wire) => {
  const id = integer(wire)
  return id !== unreadable && id >= 1 ? (id as NodeId) : unreadable
}

/** The id of a record that may not be a node. */
export const nodeIdOf: Field<NodeId> = (wire) => (Predicate.isObject(wire) ? nodeId(wire["id"]) : unreadable)

const vcpus = cached(count)

/** Whether the node has backups. */
const backupIds: Field<boolean> = (wire) => (Array.isArray(wire) ? wire.length > 0 : unreadable)

const backupsOf = (record: Record<string, unknown>, extra: Record<string, unknown>): boolean | null =>
  read(record["backup"], "backup", flag, null, extra) ??
  read(record["backups"], "backups", flag, null, extra) ??
  read(record["backup_ids"], "backup_ids", backupIds, null, extra)

const tags: Field<ReadonlyArray<string>> = (wire) =>
  Array.isArray(wire) && wire.every((tag) => typeof tag === "string") ? wire : unreadable

const keepNetwork = (record: Record<string, unknown>, name: string, extra: Record<string, unknown>) => {
  const rest = furtherNetwork(record[name])
  if (rest !== undefined && !(name in extra)) extra[name] = rest
}

/** A node record of which only the id is readable. */
export interface UnreadNode {
  readonly id: NodeId
  readonly fault: RecordFault
}

/** The ids in a reply that does not state exactly one node, lowest first. */
export interface SeveralNodes {
  readonly ids: ReadonlyArray<NodeId>
  readonly fault: RecordFault
}

/** A node from a record of any shape. Only id and name are required. */
export const nodeFromWire: ReadRecord<Node> = (wire) => {
  if (!Predicate.isObject(wire)) return new RecordFault("", "a node record", wire)
  const id = nodeId(wire["id"])
  if (id === unreadable) return new RecordFault("id", "a positive integer", wire["id"])
  const name = text(wire["name"])
  if (name === unreadable) return new RecordFault("name", "a string", wire["name"])
  const extra: Record<string, unknown> = {}
  const node: Node = {
    id,
    name,
    status: status(wire["status"]),
    createdAt: read(wire["created_at"], "created_at", timestamp, null, extra),
    vcpus: read(wire["vcpus"], "vcpus", vcpus, null, extra),
    memoryMib: read(wire["memory"], "memory", memoryMib, null, extra),
    diskGb: read(wire["disk"], "disk", diskGb, null, extra),
    publicIp: read(wire["public_ip_address"], "public_ip_address", address, null, extra),
    privateIp: read(wire["private_ip_address"], "private_ip_address", address, null, extra),
    plan: read(wire["plan"], "plan", optionalText, null, extra),
    image: read(wire["image"], "image", optionalText, null, extra),
    region: read(wire["region"], "region", optionalText, null, extra),
    backups: backupsOf(wire, extra),
    locked:
      read(wire["is_locked"], "is_locked", flag, null, extra) ?? read(wire["locked"], "locked", flag, null, extra),
    // The shape of a commitment is unknown, so its fields are kept in `extra` as well.
    committed: committedOf(wire),
    tags: read(wire["tags"], "tags", tags, noTags, extra),
    extra
  }
  keepNetwork(wire, "public_ip_address", extra)
  keepNetwork(wire, "private_ip_address", extra)
  keepUnknown(wire, known, extra)
  return node
}

const noTags: ReadonlyArray<string> = []

/**
 * Reads the reply to a create if its data is a list. Returns the only record, if the list has exactly one and the reply
 * does not state another number of nodes. Otherwise returns the ids in the list. Undefined if the data is not a list
 * but the record itself.
 */
export const createdRecord = (data: unknown): { readonly record: unknown } | SeveralNodes | undefined => {
  const around: Record<string, unknown> = Predicate.isObject(data) ? data : { node_create_response: data }
  const shown = around["node_create_response"]
  const records = Predicate.isObject(shown) ? [shown] : shown
  if (!Array.isArray(records)) return undefined
  const counts = ["total_number_of_node_requested", "total_number_of_node_created"].map((name) => around[name] ?? 1)
  if (records.length === 1 && counts.every((count) => integer(count) === 1)) return { record: records[0] }
  const isNone = records.length === 0 && integer(around["total_number_of_node_created"]) === 0
  const ids = records.map(nodeIdOf).filter((id) => id !== unreadable)
  return {
    ids: Array.from(new Set(ids)).toSorted((a, b) => a - b),
    fault: new RecordFault("node_create_response", isNone ? oneNodeMade : "one node", data)
  }
}

/** The wire name of each field of a spec except `extra`. */
export const wireNames: { readonly [Name in Exclude<keyof NodeSpec, "extra">]-?: string } = {
  name: "name",
  region: "region",
  plan: "plan",
  image: "image",
  sshKeys: "ssh_keys",
  backups: "backups",
  tags: "tags",
  savedImageTemplateId: "saved_image_template_id",
  committedSkuId: "cn_id",
  commitmentSetting: "cn_status",
  disk: "disk",
  label: "label",
  securityAgent: "enable_security_agent",
  disablePassword: "disable_password",
  reservedIp: "reserve_ip",
  ipv6: "is_ipv6_availed",
  vpcId: "vpc_id",
  publicIp: "default_public_ip",
  containerId: "ngc_container_id",
  securityGroupId: "security_group_id",
  startScripts: "start_scripts"
}

/** Why a spec's `extra` may not have a field with this wire name; undefined if it may. */
export const extraFault = (name: string): string | undefined => {
  if (name === "number_of_instances") return "a create makes one node"
  if (name === placeParameters.project || name === placeParameters.location) return "it belongs to the client's options"
  return name === "is_saved_image" || Object.values(wireNames).includes(name) ? "Berth has a name for it" : undefined
}

/** The body of a create. Fields that the spec omits are not sent (interface.md §2.2). */
export const nodeSpecToWire = ({ extra, region = "ncr", ...spec }: NodeSpec): NodeCreation => {
  const given: NodeSpec = { ...spec, region }
  const body: Record<string, unknown> = { ...extra }
  for (const [name, wire] of Object.entries(wireNames)) {
    const value = given[name as keyof typeof wireNames]
    if (value !== undefined) body[wire] = value
  }
  if (spec.savedImageTemplateId !== undefined) body["is_saved_image"] = true
  return body as unknown as NodeCreation
}

/** The body that sets a commitment. Without `skuId` the field is not sent (interface.md §4 note 3). */
export const commitmentToWire = (
  nodeId: NodeId,
  setting: CommitmentSetting,
  skuId?: number | undefined
): CommitmentUpdate => ({
  vcn_id: nodeId,
  node_status: setting,
  ...(skuId !== undefined && { committed_plan: skuId })
})
