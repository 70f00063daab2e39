/**
 * Between the wire and the domain for nodes: reads any of the three record shapes from any endpoint, field by field
 * (A8), and writes a `NodeSpec` as the body of a create, the setting of a commitment as the body that sets it.
 */
import { Predicate } from "effect"
import type { Node, NodeId } from "../domain/Node.ts"
import type { NodeSpec } from "../domain/NodeSpec.ts"
import type { CommitmentSetting } from "../domain/Commitment.ts"
import { address, furtherNetwork } from "./fields/Address.ts"
import { diskGb } from "./fields/Disk.ts"
import { cached, count, type Field, flag, integer, optionalText, text, unreadable } from "./fields/Field.ts"
import { memoryMib } from "./fields/Memory.ts"
import { status } from "./fields/Status.ts"
import { timestamp } from "./fields/Timestamp.ts"
import type { NodeCreation } from "./NodeRecords.ts"
import { keepUnknown, read, type ReadRecord, RecordFault } from "./fields/RecordReader.ts"
import type { CommitmentUpdate } from "./CommitmentsGroup.ts"

/** In the order of a list's records, then those of the other shapes. */
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

/** The id of a record that may be no node. */
export const nodeIdOf: Field<NodeId> = (wire) => (Predicate.isObject(wire) ? nodeId(wire["id"]) : unreadable)

const vcpus = cached(count)

/** Whether there are any backups. */
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

/** A node from a record of any shape. Only id, name and created_at are required. */
export const nodeFromWire: ReadRecord<Node> = (wire) => {
  if (!Predicate.isObject(wire)) return new RecordFault("", "a node record", wire)
  const id = nodeId(wire["id"])
  if (id === unreadable) return new RecordFault("id", "a positive integer", wire["id"])
  const name = text(wire["name"])
  if (name === unreadable) return new RecordFault("name", "a string", wire["name"])
  const createdAt = timestamp(wire["created_at"])
  if (createdAt === unreadable) {
    return new RecordFault("created_at", "an ISO 8601 timestamp", wire["created_at"])
  }
  const extra: Record<string, unknown> = {}
  const node: Node = {
    id,
    name,
    status: status(wire["status"]),
    createdAt,
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
    tags: read(wire["tags"], "tags", tags, noTags, extra),
    extra
  }
  keepNetwork(wire, "public_ip_address", extra)
  keepNetwork(wire, "private_ip_address", extra)
  keepUnknown(wire, known, extra)
  return node
}

const noTags: ReadonlyArray<string> = []

/** The body of a create. A field that the spec leaves out is not sent (interface.md §2.2). */
export const nodeSpecToWire = (spec: NodeSpec): NodeCreation => ({
  name: spec.name,
  region: spec.region ?? "ncr",
  plan: spec.plan,
  image: spec.image,
  ...(spec.sshKeys && { ssh_keys: spec.sshKeys }),
  ...(spec.backups !== undefined && { backups: spec.backups }),
  ...(spec.tags && { tags: spec.tags }),
  ...(spec.savedImageTemplateId !== undefined && {
    is_saved_image: true,
    saved_image_template_id: spec.savedImageTemplateId
  }),
  ...(spec.committedSkuId !== undefined && { cn_id: spec.committedSkuId }),
  ...(spec.label !== undefined && { label: spec.label }),
  ...(spec.securityAgent !== undefined && { enable_security_agent: spec.securityAgent }),
  ...(spec.disablePassword !== undefined && { disable_password: spec.disablePassword }),
  ...(spec.reservedIp !== undefined && { reserve_ip: spec.reservedIp }),
  ...(spec.ipv6 !== undefined && { is_ipv6_availed: spec.ipv6 }),
  ...(spec.vpcId !== undefined && { vpc_id: spec.vpcId }),
  ...(spec.publicIp !== undefined && { default_public_ip: spec.publicIp }),
  ...(spec.containerId !== undefined && { ngc_container_id: spec.containerId }),
  ...(spec.securityGroupId !== undefined && { security_group_id: spec.securityGroupId }),
  ...(spec.startScripts && { start_scripts: spec.startScripts })
})

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
