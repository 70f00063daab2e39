/**
 * What a record states of a node. A field that it lacks, or that is of another type, is unknown: the node is as it was known, and
 * nothing is reported of it.
 */
import type { Node } from "@berthkit/core/domain/Node"
import { isKnown, type NodeStatus } from "@berthkit/core/domain/NodeStatus"

/** The codec gives a status that is missing as no text, and one of another type as its JSON (A10). */
const isJson = /^(?:null|true|false|-?\d.*|[[{].*)?$/s

/** Whether it is a status, known or not. */
export const isStatus = (status: NodeStatus): boolean => isKnown(status) || !isJson.test(status.unknown)

/** Fields of another type are kept as they came, under the names that they have on the wire. */
const wireNames = { publicIp: "public_ip_address", privateIp: "private_ip_address" } as const

/** Whether the record does not state an address, which another one may have. */
export const isUnread = (node: Node, field: keyof Node): boolean =>
  (field === "publicIp" || field === "privateIp") && node[field] === null && wireNames[field] in node.extra

/** The record with what it does not state as it is known. The same object where it states all of it. */
export const stated = (node: Node, known: Node): Node => {
  const lacksStatus = !isStatus(node.status)
  const lacksPublicIp = isUnread(node, "publicIp")
  const lacksPrivateIp = isUnread(node, "privateIp")
  if (!lacksStatus && !lacksPublicIp && !lacksPrivateIp) return node
  return {
    ...node,
    extra: known.extra,
    ...(lacksStatus ? { status: known.status } : {}),
    ...(lacksPublicIp ? { publicIp: known.publicIp } : {}),
    ...(lacksPrivateIp ? { privateIp: known.privateIp } : {})
  }
}
