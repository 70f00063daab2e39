/**
 * The columns of `berth node list`, and the further lines of the card of `berth node get`.
 */
import type { Node } from "@berth/core/domain/Node"
import { isKnown, type KnownStatus, label, type NodeStatus } from "@berth/core/domain/NodeStatus"
import { type Column, numberOr, textOr, yesOrNo } from "./Column.ts"
import type { Style } from "./style.ts"
import { disk, memory, moment } from "./units.ts"

const styles: Record<KnownStatus, Style> = {
  creating: "waiting",
  created: "waiting",
  running: "good",
  "power-off": "faint",
  terminate: "bad"
}

/** The colour of a status; one that Berth does not know has none. */
export const statusStyle = (status: NodeStatus): Style | undefined => (isKnown(status) ? styles[status] : undefined)

const id: Column<Node> = { title: "ID", value: (node) => String(node.id), align: "right" }
const name: Column<Node> = { title: "NAME", value: (node) => node.name, shrinkTo: 12 }
const status: Column<Node> = {
  title: "STATUS",
  value: (node) => label(node.status),
  style: (node) => statusStyle(node.status)
}
const vcpus: Column<Node> = { title: "VCPU", value: (node) => numberOr(node.vcpus), align: "right", leaves: 4 }
const memorySize: Column<Node> = { title: "MEMORY", value: (node) => memory(node.memoryMib), align: "right", leaves: 5 }
const diskSize: Column<Node> = { title: "DISK", value: (node) => disk(node.diskGb), align: "right", leaves: 3 }
const publicIp: Column<Node> = { title: "PUBLIC IP", value: (node) => textOr(node.publicIp), leaves: 6 }
const privateIp: Column<Node> = { title: "PRIVATE IP", value: (node) => textOr(node.privateIp), leaves: 1 }
const plan: Column<Node> = { title: "PLAN", value: (node) => textOr(node.plan), leaves: 7 }
const createdAt: Column<Node> = { title: "CREATED (UTC)", value: (node) => moment(node.createdAt), leaves: 2 }

export const nodeColumns: ReadonlyArray<Column<Node>> = [
  id,
  name,
  status,
  vcpus,
  memorySize,
  diskSize,
  publicIp,
  privateIp,
  plan,
  createdAt
]

export const nodeCard: ReadonlyArray<Column<Node>> = [
  ...nodeColumns,
  { title: "IMAGE", value: (node) => textOr(node.image) },
  { title: "REGION", value: (node) => textOr(node.region) },
  { title: "BACKUPS", value: (node) => yesOrNo(node.backups) },
  { title: "LOCKED", value: (node) => yesOrNo(node.locked) },
  { title: "TAGS", value: (node) => textOr(node.tags.join(", ")) }
]
