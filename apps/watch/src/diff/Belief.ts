/**
 * What is believed of one node, and how a record of it is read against that. Its row in the store outlives the process; what this process saw
 * of it since and has not concluded from yet is lost with the process and gathered anew by the next one.
 */
import type { Absence, Expectation } from "@berthkit/core/absence/Absence"
import { createdMillisOf, Node, noneWhenNull } from "@berthkit/core/domain/Node"
import { isKnown, type NodeStatus } from "@berthkit/core/domain/NodeStatus"
import { Effect, Schema, Struct } from "effect"
import type { PlanNames } from "./catalogue/PlanNames.ts"
import type { Exchange, Moment } from "./Observation.ts"
import { isPassing, type Return } from "./Transition.ts"

const millis = Schema.Int.annotate({ description: "Milliseconds since the epoch, on the daemon's wall clock." })

/** What the daemon knows of one node for good, one row of the store. */
export const NodeState = Schema.Struct({
  /** As it was last believed to be; of a field that the last record lacked, the value of an earlier one. */
  node: Schema.Struct({
    ...Node.fields,
    // Rows of an earlier version lack it.
    committed: Node.fields.committed.pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
  }),
  /** Seconds since the epoch at which the service accepted the node: distinguishes two nodes of one id. */
  incarnation: Schema.Int,
  /** 1, and one more each time it returned after it was reported deleted. */
  life: Schema.Int,
  /** One more with each change that is reported of this incarnation: from 0, or for a node of the baseline from its time in milliseconds. */
  version: Schema.Int,
  /** When the reply was asked for that showed it last before this was written. A listed node was also seen by the sweeps since then. */
  seenMillis: millis,
  /** Whether the last complete sweep had it. */
  listed: Schema.Boolean,
  /** When its present status was first seen. */
  statusSinceMillis: millis,
  /** Whether it is reported to be stuck in its present status. */
  stuck: Schema.Boolean,
  /** When it was proved to be gone; null while it exists. With it, this is the node's tombstone. */
  goneMillis: Schema.NullOr(millis)
}).annotate({ identifier: "NodeState" })
export interface NodeState extends Schema.Schema.Type<typeof NodeState> {}

/** The state as JSON and back: the body of the store's row. */
export const NodeStateJson = Schema.fromJsonString(Schema.toCodecJson(NodeState))

/** The second in which the service accepted the node, 0 if unknown. It never changes during a life, even if a read shows the date later. */
export const incarnationOf = (node: Node): number => Math.floor((createdMillisOf(node) ?? 0) / 1000)

/**
 * How the incarnation of `node` compares with one that was accepted at `createdMillis`: a shape of the record may leave the
 * fractions of the second out, so less than a second is no difference, and no date at all is none either. An older one never comes after a
 * newer one.
 */
export const compareIncarnation = (node: Node, createdMillis: number | null): "older" | "same" | "newer" => {
  const shownMillis = createdMillisOf(node)
  if (shownMillis === null || createdMillis === null) return "same"
  const apart = shownMillis - createdMillis
  return Math.abs(apart) < 1000 ? "same" : apart < 0 ? "older" : "newer"
}

/** A node that single reads show although the list lacks it. */
interface Hidden {
  /** How often in a row. */
  readonly proofs: number
  readonly monotonicMillis: number
}

/** A node that exists. Without doubts all fields behind `sinceMonotonicMillis` are null. */
export interface Known {
  readonly state: NodeState
  /** The newest exchange that showed it; null before. */
  readonly seen: Exchange | null
  /** Since when it is in a status that it passes through; null at rest. */
  readonly sinceMonotonicMillis: number | null
  /** The evidence that it is gone. */
  readonly absence: Absence | null
  /** It is there although the list lacks it. */
  readonly hidden: Hidden | null
  /** The first exchange that showed it in a status that cannot follow the one it has. */
  readonly impossible: Exchange | null
  /** Records that do not state how it is showed it since: when it was last seen as it is known, in time of day. */
  readonly unstatedMillis: number | null
  /** What the two shapes of a record stated of its addresses and its plan; null where it was not read singly. */
  readonly statements: Statements | null
}

/** A node that was seen terminating will disappear. */
export const expectationOf = ({ status }: Node): Expectation => (status === "terminate" ? "goes" : "stays")

/** A node that was reported deleted: what is kept of it in memory. */
export interface Gone {
  readonly createdMillis: number | null
  readonly life: number
  readonly version: number
  /** What showed it since; null where nothing did. */
  readonly returning: Return | null
}

const calm = { absence: null, hidden: null, impossible: null, unstatedMillis: null, statements: null }

/** `state` is as it is now; nothing else is known. */
export const known = (state: NodeState, nowMonotonicMillis: number): Known => ({
  state,
  seen: null,
  sinceMonotonicMillis: isPassing(state.node.status) ? nowMonotonicMillis : null,
  ...calm
})

/** With another state; a status that it has since now is one from now on. */
export const withState = (belief: Known, state: NodeState, { monotonicMillis }: Moment): Known => ({
  ...belief,
  state,
  sinceMonotonicMillis: !isPassing(state.node.status)
    ? null
    : state.statusSinceMillis === belief.state.statusSinceMillis && state.node.status === belief.state.node.status
      ? belief.sinceMonotonicMillis
      : monotonicMillis
})

/** The state of a node when a reply first shows it, which may be from as early as the request for it. */
export const firstState = (
  node: Node,
  { asked, answered }: Exchange,
  version = 0,
  seenMillis = asked.atMillis
): NodeState => ({
  node,
  incarnation: incarnationOf(node),
  life: 1,
  version,
  seenMillis,
  listed: true,
  statusSinceMillis: answered.atMillis,
  stuck: false,
  goneMillis: null
})

/** What is kept of a node that is gone. */
export const goneFrom = ({ life, node, version }: NodeState): Gone => ({
  createdMillis: createdMillisOf(node),
  life,
  version,
  returning: null
})

/**
 * The codec gives a status that is missing as no text, and one of another type as its JSON (assumption A10 in
 * docs/interface/assumptions.md).
 */
const isJson = /^(?:null|true|false|-?\d.*|[[{].*)?$/s

/** Whether it is a status, known or not. */
export const isStatus = (status: NodeStatus): boolean => isKnown(status) || !isJson.test(status.unknown)

/** Fields of another type are kept as they came, under the names that they have on the wire. */
const wireNames = { publicIp: "public_ip_address", privateIp: "private_ip_address" } as const

/** Whether the record does not state an address, which another one may have. */
const isUnread = (node: Node, field: keyof Node): boolean =>
  (field === "publicIp" || field === "privateIp") && node[field] === null && wireNames[field] in node.extra

/**
 * The record with what it does not state as it is known: a field that it lacks, or that is of another type, is unknown, and nothing is
 * reported of it. The same object where it states all of it.
 */
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

interface Statement {
  publicIp: Node["publicIp"]
  privateIp: Node["privateIp"]
  plan: Node["plan"]
}

/**
 * What the last record of each shape stated of a node; null before the first. Lists and single reads may differ for good, as in an address
 * that only one of them has, or in the name of the plan: a change is between two statements of the same shape.
 */
interface Statements {
  readonly list: Readonly<Statement> | null
  readonly read: Readonly<Statement> | null
}

const addresses = ["publicIp", "privateIp"] as const

const statementOf = ({ plan, privateIp, publicIp }: Node): Statement => ({ publicIp, privateIp, plan })

const isEqual = (a: Readonly<Statement> | null, b: Readonly<Statement>): boolean =>
  a !== null && a.publicIp === b.publicIp && a.privateIp === b.privateIp && a.plan === b.plan

/** A node that a single read showed first: what the list states of it is not known. */
export const firstRead = (read: Known): Known => ({
  ...read,
  statements: { list: null, read: statementOf(read.state.node) }
})

/** Whether the record shows another plan, and not the known one under another name. Where the catalogue has not both names, its own shape decides. */
const isOtherPlan = (
  shown: string,
  known: string,
  last: Readonly<Statement> | null,
  { relation }: PlanNames
): boolean => {
  if (shown === known) return false
  const found = relation(known, shown)
  return found === "other" || (found === "unknown" && last !== null && last.plan !== null && last.plan !== shown)
}

const withPlan = (node: Node, plan: string | null): Node => (node.plan === plan ? node : { ...node, plan })

/**
 * The record, with those addresses and the plan as they are known in which it only differs from the other shape; and what the shapes have
 * stated then. Nodes that are read singly are remembered: of all others the list states what is known.
 */
export const ofSameShape = (
  kept: Statements | null,
  shown: Node,
  { listed, node: known }: NodeState,
  shape: "list" | "read",
  names: PlanNames
): { readonly node: Node; readonly statements: Statements | null } => {
  const isOfLists = kept === null && shape === "list" && listed
  if (isOfLists && shown.plan === known.plan) return { node: shown, statements: kept }
  // What is known came from lists, which show all nodes.
  const statements = kept ?? { list: statementOf(known), read: null }
  const last = statements[shape]
  const isOther = shown.plan !== null && known.plan !== null && isOtherPlan(shown.plan, known.plan, last, names)
  const plan = shown.plan === null || known.plan === null || isOther ? shown.plan : known.plan
  if (isOfLists) return { node: withPlan(shown, plan), statements: kept }
  const stated = { ...(last ?? statementOf(known)), plan: shown.plan ?? last?.plan ?? null }
  const believed = { ...statementOf(shown), plan }
  for (const field of addresses) {
    const value = shown[field]
    if (isUnread(shown, field)) continue
    // The first statement of a shape is no news, because it may always have differed, unless the list has an address and none was known.
    const isNews = last === null ? shape === "list" && known[field] === null : value !== last[field]
    if (!isNews) believed[field] = known[field]
    stated[field] = value
  }
  const isUnchanged = isEqual(last, stated)
  // The other shape has its own name for another plan.
  const others = isOther ? withoutPlans(statements) : statements
  return {
    node: isEqual(believed, statementOf(shown)) ? shown : { ...shown, ...believed },
    statements: isUnchanged && !isOther ? kept : { ...others, [shape]: stated }
  }
}

const withoutPlans = ({ list, read }: Statements): Statements => ({
  list: list && { ...list, plan: null },
  read: read && { ...read, plan: null }
})

/** Spelling does not make another status (A10). */
export const normal = (status: NodeStatus): string =>
  isKnown(status) ? status : `unknown:${status.unknown.toLowerCase().replace(/[\s_-]/g, "")}`

/** Fields whose null may only mean that one of the three record shapes leaves them out (A8). */
const omissible = Struct.keys(Struct.omit(Node.fields, noneWhenNull))

/** The node as it was seen now, with the fields that this record lacks taken from an earlier one. */
export const completed = (node: Node, earlier: Node): Node => {
  const omitted = omissible.filter((field) => node[field] === null && earlier[field] !== null)
  // Fractions of the second may come and go; the incarnation stays.
  return {
    ...node,
    createdAt: earlier.createdAt ?? node.createdAt,
    ...Object.fromEntries(omitted.map((field) => [field, earlier[field]]))
  }
}

/** Whether a field has another value; one that no record had before is only known now. */
export const isChanged = (field: keyof Node, before: Node, after: Node): boolean =>
  before[field] !== after[field] &&
  (before[field] !== null || (noneWhenNull.some((name) => name === field) && !isUnread(before, field)))

const isUnchanged = (value: unknown, before: unknown): boolean => value === null || value === before

/** Whether the record has nothing new in any field that is kept; a field it lacks is unknown, not changed. */
export const isSame = (node: Node, known: Node): boolean =>
  (node.status === known.status || normal(node.status) === normal(known.status)) &&
  node.name === known.name &&
  node.publicIp === known.publicIp &&
  node.privateIp === known.privateIp &&
  isUnchanged(node.plan, known.plan) &&
  isUnchanged(node.backups, known.backups) &&
  isUnchanged(node.locked, known.locked) &&
  isUnchanged(node.committed, known.committed) &&
  isUnchanged(node.image, known.image) &&
  isUnchanged(node.vcpus, known.vcpus) &&
  isUnchanged(node.memoryMib, known.memoryMib) &&
  isUnchanged(node.diskGb, known.diskGb)
