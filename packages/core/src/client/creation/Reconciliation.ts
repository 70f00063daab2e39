/**
 * What is judged of a create: whether two ask for the same, whether a reply is its own, which node came of it where its reply was
 * lost, while no other of its name is under way, and what it fails with. It never guesses; where two explanations are left it names both.
 */
import { DateTime, Effect, Semaphore } from "effect"
import type { NodeSpec } from "../../domain/NodeSpec.ts"
import { RecordFault } from "../../api/fields/RecordReader.ts"
import type { Node, NodeId } from "../../domain/Node.ts"
import { BerthError } from "../../domain/BerthError.ts"
import { type ErrorReason, InvalidRequest, StateUnavailable, TimedOut, Unreachable } from "../../domain/ErrorReason.ts"
import { millisBetween } from "../files/Boot.ts"
import {
  type Instant,
  type Intent,
  type IntentStoreFailed,
  isSent,
  mayBeAnswered,
  type SentIntent
} from "./IntentStore.ts"

/** Sorted, each once: the order of tags and keys changes nothing about a node. None is the same as leaving them out. */
const set = (texts: ReadonlyArray<string> | undefined) =>
  texts === undefined || texts.length === 0 ? undefined : Array.from(new Set(texts)).toSorted()

/** The spec as a text, the same however it was written. */
const canonical = ({ region = "ncr", sshKeys, startScripts = [], tags, ...rest }: NodeSpec): string => {
  const fields: Readonly<Record<string, unknown>> = {
    ...rest,
    image: String(rest.image),
    region,
    sshKeys: set(sshKeys),
    tags: set(tags),
    // These run in their order.
    startScripts: startScripts.length === 0 ? undefined : startScripts
  }
  const given = Object.keys(fields).filter((name) => fields[name] !== undefined)
  return JSON.stringify(given.toSorted().map((name) => [name, fields[name]]))
}

/**
 * What a create asks for, as a short text that another process can compare: SHA-256 as hex. It keeps no script, password or key
 * readable. Where there is no `node:crypto` there are no files either, and the text itself stays in memory.
 */
export const specDigest = (spec: NodeSpec): string => {
  const text = canonical(spec)
  const crypto = globalThis.process?.getBuiltinModule?.("node:crypto")
  return crypto === undefined ? text : crypto.createHash("sha256").update(text).digest("hex")
}

type Shown = Pick<Intent, "name" | "plan" | "image">

/** Whether the nodes of two creates look the same in the list. */
export const isAlike = (a: Shown, b: Shown): boolean => a.name === b.name && a.plan === b.plan && a.image === b.image

type Asked = Shown & Pick<Intent, "spec">

/** Whether two creates ask for the same in every field: whose node is whose does not matter among them. */
export const isSame = (a: Asked, b: Asked): boolean =>
  isAlike(a, b) && (a.spec === b.spec || a.spec === null || b.spec === null)

/** The service's clock is known to a second or two. */
const serviceClockMillis = 2000

/** Least time since an earlier instant, by the clock of a boot or by the service's; never by a wall clock, which steps. */
export const millisSince = (earlier: Instant, now: Instant): number => {
  if (earlier.bootClock !== null && earlier.bootClock === now.bootClock) return millisBetween(earlier, now)
  return earlier.serviceMillis > 0 && now.serviceMillis > 0
    ? Math.max(0, now.serviceMillis - earlier.serviceMillis - serviceClockMillis)
    : 0
}

/**
 * A create that shows no node this long after it was sent was not processed, and may be sent again: ten minutes, in which gateways
 * and workers may process a request whose client is long gone; and half a minute, in which a request leaves its process and a
 * node comes to be listed.
 */
export const quietMillis = 630_000

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

/** Most creates of one name that may be under way at once. */
const maxUnderWay = 1_000_000

/**
 * The creates of one name in this client. While one whose reply is lost is reconciled with the list no other is under way, so
 * that none of their nodes can be taken for its own.
 */
export class SameNameCreates {
  readonly #lost = new Set<Intent>()
  readonly #gate = Semaphore.makeUnsafe(maxUnderWay)
  /** Shut while a create waits to be resolved: those that come later would never let the gate become free. */
  readonly #door = Semaphore.makeUnsafe(1)

  /** The creates that have lost their replies and are not resolved. */
  get lost(): Iterable<Intent> {
    return this.#lost
  }

  /** Counts the create among the lost ones while `resolve` runs. */
  readonly whileLost =
    (intent: Intent) =>
    <A, E, R>(resolve: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.sync(() => this.#lost.add(intent)),
        () => resolve,
        () => Effect.sync(() => this.#lost.delete(intent))
      )

  /** Runs `send` while none is resolved. */
  readonly sending = <A, E, R>(send: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.andThen(this.#door.withPermit(Effect.void), this.#gate.withPermit(send))

  /** Runs `resolve` while none is under way. */
  readonly exclusively = <A, E, R>(resolve: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    this.#door.withPermit(this.#gate.withPermits(maxUnderWay)(resolve))
}

/** The attempts of a request, and the reply it failed with. */
export type Tried = Pick<BerthError, "attempts" | "reply">

/** Of a create that has asked for nothing yet. */
export const untried: Tried = { attempts: [], reply: null }

export const createFailure = (reason: ErrorReason, { attempts, reply }: Tried = untried) =>
  new BerthError({ operation: "nodes.create", reason, attempts, reply })

/** The key is not for this create. */
export const keyFault = (detail: string) =>
  createFailure(new InvalidRequest({ status: null, detail, fields: { key: [detail] } }))

/** An intent that has to be read or written cannot be. */
export const unusableReason = ({ code, detail, path }: IntentStoreFailed) =>
  new StateUnavailable({ code, detail, path })

export const unusable = (error: IntentStoreFailed) => createFailure(unusableReason(error))

/**
 * The failure of a request of a create, as that of the create. The deadline of a request is what is left of the deadline of the
 * create, and the caller knows only the latter. A request before the one that creates sends nothing of it.
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
