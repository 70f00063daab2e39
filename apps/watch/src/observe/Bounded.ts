/**
 * Records as they enter the daemon: what a service writes into a node is kept, stored, sent and shown, so its texts are bounded and
 * well-formed from here on. Pure.
 */
import type { Node } from "@berthkit/core/domain/Node"
import { isKnown, type NodeStatus } from "@berthkit/core/domain/NodeStatus"

/** Of each text, in UTF-16 code units; the rest is cut off. */
export const maxTextLength = 1000

/** Tags of a node. */
const maxTags = 100

/** Further fields of a node as JSON, in UTF-16 code units, and how many keep their names where that is too much. */
const maxExtraLength = 10_000
const maxExtraFields = 100

const bounded = (text: string): string => text.slice(0, maxTextLength).toWellFormed()
const isBounded = (text: string | null): boolean =>
  text === null || (text.length <= maxTextLength && text.isWellFormed())
const boundedOrNull = (text: string | null): string | null => (text === null ? null : bounded(text))

const boundedStatus = (status: NodeStatus): NodeStatus =>
  isKnown(status) ? status : { unknown: bounded(status.unknown) }

/** JSON has half of a surrogate pair as an escape. */
const hasHalfPair = /\\ud[89a-f]/

const isExtraBounded = (extra: Node["extra"]): boolean => {
  for (const _ in extra) {
    const json = JSON.stringify(extra)
    return json.length <= maxExtraLength && !hasHalfPair.test(json)
  }
  return true
}

/** A field that is there says that the record has one that was not understood: its name stays. */
const boundedExtra = (extra: Node["extra"]): Node["extra"] =>
  isExtraBounded(extra)
    ? extra
    : Object.fromEntries(
        Object.keys(extra)
          .slice(0, maxExtraFields)
          .map((name) => [bounded(name), null])
      )

const isNodeBounded = ({ extra, image, name, plan, privateIp, publicIp, region, status, tags }: Node): boolean =>
  isBounded(name) &&
  isBounded(plan) &&
  isBounded(image) &&
  isBounded(region) &&
  isBounded(publicIp) &&
  isBounded(privateIp) &&
  (isKnown(status) || isBounded(status.unknown)) &&
  (tags === null || (tags.length <= maxTags && tags.every(isBounded))) &&
  isExtraBounded(extra)

/** The node with texts that are bounded and well-formed; the same object where they are. */
export const boundedNode = (node: Node): Node =>
  isNodeBounded(node)
    ? node
    : {
        ...node,
        name: bounded(node.name),
        plan: boundedOrNull(node.plan),
        image: boundedOrNull(node.image),
        region: boundedOrNull(node.region),
        publicIp: boundedOrNull(node.publicIp),
        privateIp: boundedOrNull(node.privateIp),
        status: boundedStatus(node.status),
        tags: node.tags && node.tags.slice(0, maxTags).map(bounded),
        extra: boundedExtra(node.extra)
      }
