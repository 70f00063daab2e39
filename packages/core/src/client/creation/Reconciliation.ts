/**
 * Answers four questions about creates, which are requests for a new node. Do two creates ask for the same node? Does a reply belong to a
 * create? Which node did a create make if its reply was lost? With which error does a create fail? The answer is never a guess: if two
 * explanations remain, all candidates are returned.
 */
import { Effect, Semaphore } from "effect"
import type { NodeSpec } from "../../domain/NodeSpec.ts"
import { otherLocation } from "../../api/AskedNode.ts"
import { RecordFault } from "../../api/fields/RecordReader.ts"
import type { SeveralNodes, UnreadNode } from "../../api/NodeCodec.ts"
import { createdMillisOf, type Node, type NodeId } from "../../domain/Node.ts"
import { BerthError } from "../../domain/BerthError.ts"
import { type ErrorReason, InvalidRequest, StateUnavailable, TimedOut, Unreachable } from "../../domain/ErrorReason.ts"
import { builtin } from "../options/builtin.ts"
import {
  type Instant,
  type Intent,
  idsOf,
  type IntentStoreFailed,
  isSent,
  mayBeAnswered,
  type SentIntent,
  type Told
} from "./IntentStore.ts"
import {
  isSpelling,
  type Kinship,
  kinshipOf,
  type KnownPlans,
  mayShow,
  mayShowPlan,
  millisSince,
  isQuiet,
  spellingGroup
} from "./Ownership.ts"

/**
 * Sorts the strings and removes duplicates, because the order of tags and keys does not matter for a node. An empty list equals an absent
 * one.
 */
const set = (texts: ReadonlyArray<string> | undefined) =>
  texts === undefined || texts.length === 0 ? undefined : Array.from(new Set(texts)).toSorted()

/** The spec as a canonical text. */
const canonical = ({ extra = {}, region = "ncr", sshKeys, startScripts = [], tags, ...rest }: NodeSpec): string => {
  const further = Object.entries(extra)
  const fields: Readonly<Record<string, unknown>> = {
    ...rest,
    image: String(rest.image),
    region,
    sshKeys: set(sshKeys),
    tags: set(tags),
    // The order of scripts matters, because they run one after the other.
    startScripts: startScripts.length === 0 ? undefined : startScripts,
    extra: further.length === 0 ? undefined : further.toSorted(([a], [b]) => (a < b ? -1 : 1))
  }
  const given = Object.keys(fields).filter((name) => fields[name] !== undefined)
  return JSON.stringify(given.toSorted().map((name) => [name, fields[name]]))
}

/**
 * The order of a create, as a short text that another process can compare: a SHA-256 in hex, so no script, password or key is readable.
 * In a runtime without `node:crypto` it is the plain text, which stays in memory, because such a runtime has no files either.
 */
export const specDigest = (spec: NodeSpec): string => {
  const text = canonical(spec)
  const crypto = builtin("node:crypto")
  return crypto === undefined ? text : crypto.createHash("sha256").update(text).digest("hex")
}

type Asked = Pick<Intent, "name" | "plan" | "image" | "spec">

/** Whether two creates ask for the same name, plan and image. */
export const isAlike = (a: Asked, b: Asked): boolean => a.name === b.name && a.plan === b.plan && a.image === b.image

/** Whether two creates ask for the same in every field. If so, nobody needs to know which of them made which node. */
export const isSame = (a: Asked, b: Asked): boolean =>
  isAlike(a, b) && (a.spec === b.spec || a.spec === null || b.spec === null)

/** The state of an intent according to the list. */
export type Resolution =
  | { readonly _tag: "Found"; readonly node: Node }
  /** The create certainly made no node. */
  | { readonly _tag: "Absent" }
  /**
   * Not certain yet. The candidates may be nodes of this create, or of another create that may still get its reply or
   * that has a different spec. They may also be new nodes with this create's name that differ in a field, such as the
   * image, that a service may show in another way. Or the reply to this create named the candidate, although the
   * candidate differs from the order. Without candidates, the list may not contain the node yet.
   */
  | { readonly _tag: "Undecided"; readonly candidates: ReadonlyArray<Node> }
  /** There are more nodes than lost replies, so one of them belongs to another client. */
  | { readonly _tag: "Ambiguous"; readonly candidates: ReadonlyArray<Node> }

/** No reply arrives later than this after its request. */
const maxUnderWayMillis = 120_000

/** Other creates whose nodes may be listed under the same name. */
export interface Beside {
  /** Creates without a known node whose reply was lost, or whose process ended before it recorded the reply. */
  readonly lost: ReadonlyArray<SentIntent>
  /**
   * Creates of other processes that were in progress when last seen, by key. A reply may still come, or only that
   * process knows the reply.
   */
  readonly underWay: ReadonlyMap<string, SentIntent>
}

/** Whether another create was sent, has no known node, and may have made a node that is listed under this create's name. */
export const isBeside = (intent: SentIntent, other: Intent): other is SentIntent =>
  other.key !== intent.key &&
  other.nodeId === null &&
  isSent(other) &&
  spellingGroup(other.name) === spellingGroup(intent.name)

/** The other creates that matter to this one, from the intents of all processes and from the creates that were seen in progress before. */
export const besideOf = (
  intent: SentIntent,
  intents: ReadonlyArray<Intent>,
  seenUnderWay: Beside["underWay"],
  now: Instant
): Beside => {
  const lost: Array<SentIntent> = []
  const underWay = new Map(seenUnderWay)
  for (const other of intents) {
    if (!mayBeAnswered(other)) underWay.delete(other.key)
    if (!isBeside(intent, other)) continue
    if (mayBeAnswered(other)) {
      if (millisSince(other.sentAt, now) < maxUnderWayMillis) underWay.set(other.key, other)
    }
    // A create that was sent long before this one cannot have made a node that appeared after this one was sent.
    else if (!isQuiet(other.sentAt, intent.sentAt)) lost.push(other)
  }
  return { lost, underWay }
}

/** The facts by which a create is judged. */
export interface Evidence {
  readonly intent: SentIntent
  /** All nodes whose id is above the intent's watermark (the highest id before the create). If ids were seen not to ascend, all nodes. */
  readonly newer: ReadonlyArray<Node>
  /** Whether the list shows every node. Otherwise a node that it does not show may exist. */
  readonly isWhole: boolean
  /** The time at which these nodes were read. */
  readonly now: Instant
  /** Maps each node to the key of the create that is known to have made it. */
  readonly claimed: ReadonlyMap<NodeId, string>
  /** Nodes that the replies to other creates named, although the nodes differ from what those creates asked for. */
  readonly toldToOthers: ReadonlySet<NodeId>
  readonly beside: Beside
  /** What the image list says about plans. Left out if each plan shown is the one that was asked for, or if the list cannot be read. */
  readonly plans?: KnownPlans
  /** Nodes that the list shows without a creation date and that could not be read by id. None of them counts as proven. Default: none. */
  readonly unread?: ReadonlySet<NodeId>
}

/** The place where a create asks for its node to be. */
export interface Place {
  readonly region: string
  /** Undefined if the client names no location. */
  readonly location: string | undefined
}

/** How the node that a reply names differs from what was asked for, beyond its spelling; undefined if it does not differ. */
const differenceOf = (
  { name, plan }: Pick<Intent, "name" | "plan">,
  { location, region }: Place,
  node: Node,
  plans: KnownPlans | undefined
) => {
  if (!isSpelling(node.name, name)) return { field: "name", has: node.name, asked: name }
  if (!mayShowPlan(node.plan, plan, plans)) return { field: "plan", has: node.plan!, asked: plan }
  if (!mayShow(node.region, region)) return { field: "region", has: node.region!, asked: region }
  const has = otherLocation(location, node.extra)
  return location === undefined || has === undefined ? undefined : { field: "location", has, asked: location }
}

/** The fault of a node as the reply to a create. */
export interface ReplyFault {
  readonly fault: RecordFault
  /** The node that the reply names in spite of the fault, if the node is new and belongs to no other create. */
  readonly told?: Told
}

/** An intent keeps at most this many characters of a service's text. */
const maxSaid = 100

const clip = (text: string) => (text.length > maxSaid ? `${text.slice(0, maxSaid)}…` : text)

/**
 * What is wrong with a node as the reply to a create; undefined if nothing is. A node that existed before, or that
 * another create is known to have made, counts as not made by this create, whatever the reply says. A node with another
 * name, plan, region or location, or with only a readable id, may have been made by this create.
 */
export const createReplyFault = (
  intent: Pick<Intent, "name" | "newerThan" | "plan">,
  place: Place,
  isOthers: boolean,
  node: Node | UnreadNode,
  plans?: KnownPlans
): ReplyFault | undefined => {
  const { id } = node
  if (id <= intent.newerThan) {
    return { fault: new RecordFault("id", `an id above ${intent.newerThan}, the highest before the create`, id) }
  }
  if (isOthers) return { fault: new RecordFault("id", "a node that no other create has made", id) }
  if ("fault" in node) {
    return { fault: node.fault, told: { id, difference: `no ${node.fault.path} that can be read` } }
  }
  const difference = differenceOf(intent, place, node, plans)
  if (difference === undefined) return undefined
  const { asked, field, has } = difference
  return {
    fault: new RecordFault(field, `the ${field} ${asked}`, has),
    told: { id, difference: `the ${field} ${clip(has)} instead of ${clip(asked)}` }
  }
}

/**
 * What is wrong with a reply that does not state exactly one node. The result has each node of the reply that this create may have made,
 * because the caller, who asked for one node, has to see them all.
 */
export const severalFault = (
  { newerThan }: Pick<Intent, "newerThan">,
  isOthers: (id: NodeId) => boolean,
  { fault, ids }: SeveralNodes
): ReplyFault => {
  const [id, ...others] = ids.filter((id) => id > newerThan && !isOthers(id))
  return id === undefined ? { fault } : { fault, told: { id, others, difference: "other nodes beside it" } }
}

type KinshipWith = (intent: SentIntent, node: Node) => Kinship

/** Whether each node can be matched with a different create, oldest node first. */
const covers = (intents: ReadonlyArray<SentIntent>, nodes: ReadonlyArray<Node>, kinship: KinshipWith): boolean => {
  const left = intents.toSorted((a, b) => a.newerThan - b.newerThan)
  return nodes.every((node) => {
    const i = left.findIndex((intent) => kinship(intent, node) === "proven")
    if (i >= 0) left.splice(i, 1)
    return i >= 0
  })
}

/**
 * Resolves one intent. If every candidate can be matched with a lost create of the same spec, all candidates are ours,
 * and any of them may go to any of these creates: this create takes the oldest. If the reply named a node, this create
 * takes no other node.
 */
export const resolve = ({
  beside,
  claimed,
  intent,
  isWhole,
  newer,
  now,
  plans,
  toldToOthers,
  unread
}: Evidence): Resolution => {
  const kinship: KinshipWith = (intent, node) => {
    const is = kinshipOf(intent, { ...node, createdMillis: createdMillisOf(node) }, now, plans)
    if (is !== "proven") return is
    // When the highest id was read, the list may have cut off an older node, so only a date proves that a node is
    // newer.
    const mayBeOlder = !isWhole && node.createdAt === null && !idsOf(intent.told).includes(node.id)
    // It is unlikely that the service carried out a create that it refused, so a node with that name is more likely somebody else's.
    return intent.fate === "refused" || mayBeOlder || unread?.has(node.id) === true ? "possible" : is
  }
  const own = newer.find(({ id }) => claimed.get(id) === intent.key)
  if (own !== undefined) return { _tag: "Found", node: own }
  const { told } = intent
  const seen = (intent.seen ?? []).filter((id) => !claimed.has(id))
  const named = [...idsOf(told), ...seen]
  const possible = newer.flatMap((node) => {
    const is = claimed.has(node.id) ? "none" : kinship(intent, node)
    return is === "none" && !named.includes(node.id) ? [] : [{ node, is }]
  })
  const proven = possible
    .filter(({ is, node: { id } }) => is === "proven" && !toldToOthers.has(id))
    .map(({ node }) => node)
    .toSorted((a, b) => a.id - b.id)
  if (told !== undefined) {
    const node = told.others === undefined ? proven.find(({ id }) => id === told.id) : undefined
    return node === undefined
      ? { _tag: "Undecided", candidates: possible.map((each) => each.node) }
      : { _tag: "Found", node }
  }
  // A service that keeps the spelling of one name keeps the spelling of all.
  const exact = proven.filter(({ name }) => name === intent.name)
  const candidates = exact.length > 0 ? exact : proven
  const [oldest] = candidates
  // The create's node may be in the list now, or it was seen before and was deleted or renamed since.
  if (oldest === undefined || seen.some((id) => candidates.every((node) => node.id !== id))) {
    return possible.length === 0 && isWhole
      ? { _tag: "Absent" }
      : { _tag: "Undecided", candidates: possible.map(({ node }) => node) }
  }
  const mayBeOf = (other: SentIntent) =>
    candidates.some((node) => ["proven", "possible"].includes(kinship(other, node)))
  const same = beside.lost.filter((other) => isSame(other, intent))
  const others = [...beside.underWay.values(), ...beside.lost.filter((other) => !isSame(other, intent))]
  if (others.some(mayBeOf)) return { _tag: "Undecided", candidates }
  return covers([intent, ...same], candidates, kinship)
    ? { _tag: "Found", node: oldest }
    : { _tag: "Ambiguous", candidates }
}

/** Maximum number of creates of one name that may run at once. */
const maxUnderWay = 1_000_000

/**
 * The creates of one name in this client. While a create whose reply was lost is compared with the list, no other
 * create of the name is sent, because Berth could confuse their nodes.
 */
export class SameNameCreates {
  readonly #lost = new Set<SentIntent>()
  readonly #gate = Semaphore.makeUnsafe(maxUnderWay)
  /** Closed while a create waits to be resolved, because later creates could otherwise keep the gate busy indefinitely. */
  readonly #door = Semaphore.makeUnsafe(1)

  /** The creates whose replies were lost and that are not resolved yet. */
  get lost(): Iterable<SentIntent> {
    return this.#lost
  }

  /** Counts the create as lost while `resolve` runs. */
  readonly whileLost =
    (intent: SentIntent) =>
    <A, E, R>(resolve: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.sync(() => this.#lost.add(intent)),
        () => resolve,
        () => Effect.sync(() => this.#lost.delete(intent))
      )

  /** Runs `send` while no create is being resolved. */
  readonly sending = <A, E, R>(send: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.andThen(this.#door.withPermit(Effect.void), this.#gate.withPermit(send))

  /** Runs `resolve` while no create is being sent. */
  readonly exclusively = <A, E, R>(resolve: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    this.#door.withPermit(this.#gate.withPermits(maxUnderWay)(resolve))
}

/** The attempts of a request, and its failed reply. */
export type Tried = Pick<BerthError, "attempts" | "reply">

/** The attempts of a create that has not sent anything yet: none. */
export const untried: Tried = { attempts: [], reply: null }

export const createFailure = (reason: ErrorReason, { attempts, reply }: Tried = untried) =>
  new BerthError({ operation: "nodes.create", reason, attempts, reply })

/** The failure of a create whose key cannot be used for this order. */
export const keyFault = (detail: string) =>
  createFailure(new InvalidRequest({ status: null, detail, fields: { key: [detail] } }))

/** The reason for a failure if a needed intent cannot be read or written. */
export const unusableReason = ({ code, detail, path }: IntentStoreFailed) =>
  new StateUnavailable({ code, detail, path })

export const unusable = (error: IntentStoreFailed) => createFailure(unusableReason(error))

/**
 * Turns the failure of one request into the failure of the create. The request had only the rest of the create's time, but the error
 * names the create's deadline, because the caller knows no other. With `isBefore`, the request only prepared the create, so the create
 * was not sent.
 */
export const failureOf = (error: BerthError, deadlineMillis: number, isBefore: boolean) => {
  const { reason } = error
  const sent = isBefore && { sent: "no" as const }
  if (reason._tag === "TimedOut") {
    const afterMillis = reason.limit === "deadline" ? deadlineMillis : reason.afterMillis
    return createFailure(new TimedOut({ ...reason, afterMillis, ...sent }), error)
  }
  return createFailure(reason._tag === "Unreachable" ? new Unreachable({ ...reason, ...sent }) : reason, error)
}
