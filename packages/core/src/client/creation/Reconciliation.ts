/**
 * Which node came of a create whose reply was lost: the pure judgement over the nodes that are listed now and the intents of
 * other creates. It never guesses; where two explanations are left the resolution names both.
 */
import { DateTime } from "effect"
import { RecordFault } from "../../api/fields/RecordReader.ts"
import type { Node, NodeId } from "../../domain/Node.ts"
import {
  type Instant,
  type Intent,
  isAlike,
  isSame,
  isSent,
  mayBeAnswered,
  millisSince,
  quietMillis,
  type SentIntent
} from "./Intent.ts"

/** What the list shows of an intent. */
export type Resolution =
  | { readonly _tag: "Found"; readonly node: Node }
  /** No node can have come of it. */
  | { readonly _tag: "Absent" }
  /**
   * Nodes that may have come of it, or of a create alike: one whose reply is still to come, or one of another spec; or new nodes of its name that differ in
   * what a service may show in another way, such as the image.
   */
  | { readonly _tag: "Undecided"; readonly candidates: ReadonlyArray<Node> }
  /** More nodes than there are lost replies: one of them is another client's. */
  | { readonly _tag: "Ambiguous"; readonly candidates: ReadonlyArray<Node> }

/** No reply comes later than this after its request was sent. */
const maxUnderWayMillis = 120_000

/** Creates alike in name, plan and image, which is all that the list shows. */
export interface Alike {
  /** How many of them, of the same spec, have lost their replies, or their processes, and have no node yet: this one included. */
  readonly lost: number
  /** Whether one of another spec has: its node is not ours, and cannot be told from ours. */
  readonly isOtherLost: boolean
  /** Keys of those, of other processes, that were seen under way: their replies may still come, or came to them alone. */
  readonly underWay: ReadonlySet<string>
}

/** What two creates that look alike are to each other. */
export const lostBeside = (intent: Intent, others: Iterable<Intent>): Pick<Alike, "lost" | "isOtherLost"> => {
  let lost = 1
  let isOtherLost = false
  for (const other of others) {
    if (other.key === intent.key || !isAlike(other, intent)) continue
    if (isSame(other, intent)) lost++
    else isOtherLost = true
  }
  return { lost, isOtherLost }
}

/** Whether what came of another create may be what came of this one. */
export const isBeside = (intent: SentIntent, other: Intent): other is SentIntent =>
  other.key !== intent.key && other.nodeId === null && isSent(other) && isAlike(other, intent)

/** The creates alike, by the intents of all processes and by those that were seen under way before. */
export const alikeOf = (
  intent: SentIntent,
  intents: ReadonlyArray<Intent>,
  seenUnderWay: ReadonlySet<string>,
  now: Instant
): Alike => {
  const lost: Array<Intent> = []
  const underWay = new Set(seenUnderWay)
  for (const other of intents) {
    if (!mayBeAnswered(other)) underWay.delete(other.key)
    if (!isBeside(intent, other)) continue
    if (mayBeAnswered(other)) {
      if (millisSince(other.sentAt, now) < maxUnderWayMillis) underWay.add(other.key)
    }
    // One that was sent long before this one makes no node among those that are new since.
    else if (millisSince(other.sentAt, intent.sentAt) < quietMillis) lost.push(other)
  }
  return { ...lostBeside(intent, lost), underWay }
}

/** What the judgement rests on. */
export interface Evidence {
  readonly intent: Intent
  /** Nodes with an id above the intent's watermark, all of them; where ids are seen not to ascend, every node. */
  readonly newer: ReadonlyArray<Node>
  /** Nodes that are known to belong to creates, and the keys of these. */
  readonly claimed: ReadonlyMap<NodeId, string>
  readonly alike: Alike
}

const isNumber = (text: string) => /^\d+$/.test(text)

/** An image may be asked for by its number and shown by its name: then they cannot be compared. */
const isOtherImage = ({ image }: Intent, node: Node) =>
  node.image !== null && node.image !== image && isNumber(node.image) === isNumber(image)

/**
 * How much older than it is a create may seem: services write whole seconds, their `Date` has no more, and a mock's clock may
 * stand still between two of them. The watermark is the sharper of the two tests; this one is for ids that do not ascend.
 */
const blurMillis = 2000

/** A name without the spelling that services change. */
const bare = (name: string) => name.trim().toLowerCase()

/** Whether the service may show this for what was asked for; it may show nothing. */
const mayShow = (shown: string | null, asked: string) => shown === null || bare(shown) === bare(asked)

/**
 * What is wrong with a node as the reply to a create; undefined where nothing is. A node that was there before, that is known to be
 * another create's, or that has another name, plan or region did not come of this one, whatever the reply says.
 */
export const createReplyFault = (
  { name, newerThan, plan }: Pick<Intent, "name" | "newerThan" | "plan">,
  region: string,
  isOthers: boolean,
  node: Node
): RecordFault | undefined => {
  if (node.id <= newerThan)
    return new RecordFault("id", `an id above ${newerThan}, the highest before the create`, node.id)
  if (isOthers) return new RecordFault("id", "a node that no other create has made", node.id)
  if (!mayShow(node.name, name)) return new RecordFault("name", `the name ${name}`, node.name)
  if (!mayShow(node.plan, plan)) return new RecordFault("plan", `the plan ${plan}`, node.plan)
  return mayShow(node.region, region) ? undefined : new RecordFault("region", `the region ${region}`, node.region)
}

/** Whether a node can have come of an intent: same name and plan, newer in number and in time. */
const mayComeOf = (intent: Intent, node: Node): boolean =>
  node.id > intent.newerThan &&
  node.name === intent.name &&
  (node.plan === null || node.plan === intent.plan) &&
  !isOtherImage(intent, node) &&
  DateTime.toEpochMillis(node.createdAt) + blurMillis >= (intent.sentAt?.serviceMillis ?? 0)

/**
 * Resolves one intent. With as many candidates as lost creates alike each of them is one of ours, and as they are alike any
 * of them will do; the oldest is taken.
 */
export const resolve = ({ alike, claimed, intent, newer }: Evidence): Resolution => {
  const own = newer.find(({ id }) => claimed.get(id) === intent.key)
  if (own !== undefined) return { _tag: "Found", node: own }
  const candidates = newer
    .filter((node) => !claimed.has(node.id) && mayComeOf(intent, node))
    .toSorted((a, b) => a.id - b.id)
  const [oldest] = candidates
  if (oldest === undefined) {
    const doubtful = newer.filter(({ id, name }) => !claimed.has(id) && bare(name) === bare(intent.name))
    return doubtful.length === 0 ? { _tag: "Absent" } : { _tag: "Undecided", candidates: doubtful }
  }
  if (alike.underWay.size > 0 || alike.isOtherLost) return { _tag: "Undecided", candidates }
  return candidates.length > alike.lost ? { _tag: "Ambiguous", candidates } : { _tag: "Found", node: oldest }
}
