/**
 * The belief about one node, and how its records are compared with it. The node's row in the store outlives the process. What
 * this process has seen since, and has not drawn conclusions from yet, is lost with the process and collected again by the next
 * one.
 */
import type { Absence, Expectation } from "@berthkit/core/absence/Absence"
import { createdMillisOf, Node, noneWhenNull } from "@berthkit/core/domain/Node"
import { isKnown, type NodeStatus } from "@berthkit/core/domain/NodeStatus"
import { Effect, Schema, Struct } from "effect"
import type { PlanNames } from "./catalogue/PlanNames.ts"
import type { Exchange, Moment } from "./Observation.ts"
import { isPassing, type Return } from "./Transition.ts"

const millis = Schema.Int.annotate({ description: "Milliseconds since the epoch, on the daemon's wall clock." })

/** The lasting knowledge about one node, one row of the store. */
export const NodeState = Schema.Struct({
  /** The node as last believed; a field that the last record lacked keeps its earlier value. */
  node: Schema.Struct({
    ...Node.fields,
    // Rows of an earlier version lack it.
    committed: Node.fields.committed.pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
  }),
  /** When the service accepted the node, in seconds since the epoch: distinguishes two nodes of the same id. */
  incarnation: Schema.Int,
  /** Starts at 1, and increases each time the node returned after it was reported deleted. */
  life: Schema.Int,
  /**
   * Increases with each reported change of this incarnation: starts at 0, or for a baseline node at its time in milliseconds.
   */
  version: Schema.Int,
  /**
   * When the request was sent whose reply last showed it before this was written. A listed node was also seen by the sweeps
   * since then.
   */
  seenMillis: millis,
  /** Whether the last complete sweep contained it. */
  listed: Schema.Boolean,
  /** When its current status was first seen. */
  statusSinceMillis: millis,
  /** Whether it was reported as stuck in its current status. */
  stuck: Schema.Boolean,
  /** When it was proved to be gone; null while it exists. With a value, this is the node's tombstone. */
  goneMillis: Schema.NullOr(millis)
}).annotate({ identifier: "NodeState" })
export interface NodeState extends Schema.Schema.Type<typeof NodeState> {}

/** The state as JSON and back: the body of the store's row. */
export const NodeStateJson = Schema.fromJsonString(Schema.toCodecJson(NodeState))

/**
 * The second in which the service accepted the node, 0 if unknown. It never changes during a life, even if a later read shows
 * the date.
 */
export const incarnationOf = (node: Node): number => Math.floor((createdMillisOf(node) ?? 0) / 1000)

/**
 * Compares the incarnation of `node` with one that was accepted at `createdMillis`. Some shapes of the record omit fractions of
 * a second, so less than a second is no difference, and neither is a missing date. An older incarnation never follows a newer
 * one.
 */
export const compareIncarnation = (node: Node, createdMillis: number | null): "older" | "same" | "newer" => {
  const shownMillis = createdMillisOf(node)
  if (shownMillis === null || createdMillis === null) return "same"
  const apart = shownMillis - createdMillis
  return Math.abs(apart) < 1000 ? "same" : apart < 0 ? "older" : "newer"
}

/** A node that single reads show although the list lacks it. */
interface Hidden {
  /** How many reads in a row have shown it. */
  readonly proofs: number
  readonly monotonicMillis: number
}

/** An existing node. Without doubts all fields after `sinceMonotonicMillis` are null. */
export interface Known {
  readonly state: NodeState
  /** The newest exchange that showed it; null before. */
  readonly seen: Exchange | null
  /** Since when it has been in a transitional status; null otherwise. */
  readonly sinceMonotonicMillis: number | null
  /** The evidence that it is gone. */
  readonly absence: Absence | null
  /** It exists although the list lacks it. */
  readonly hidden: Hidden | null
  /** The first exchange that showed a status that cannot follow the current one. */
  readonly impossible: Exchange | null
  /** Since then it was shown only by records without details: the time of day when it was last seen in its known state. */
  readonly unstatedMillis: number | null
  /** What the two shapes of a record stated about its addresses and plan; null if it was never read singly. */
  readonly statements: Statements | null
}

/** A node that was seen terminating will disappear. */
export const expectationOf = ({ status }: Node): Expectation => (status === "terminate" ? "goes" : "stays")

/** The in-memory state of a node that was reported deleted. */
export interface Gone {
  readonly createdMillis: number | null
  readonly life: number
  readonly version: number
  /** What has shown it since; null if nothing did. */
  readonly returning: Return | null
}

const calm = { absence: null, hidden: null, impossible: null, unstatedMillis: null, statements: null }

/** A belief with the current `state` and no other knowledge. */
export const known = (state: NodeState, nowMonotonicMillis: number): Known => ({
  state,
  seen: null,
  sinceMonotonicMillis: isPassing(state.node.status) ? nowMonotonicMillis : null,
  ...calm
})

/** The belief with another state; a new status lasts from now on. */
export const withState = (belief: Known, state: NodeState, { monotonicMillis }: Moment): Known => ({
  ...belief,
  state,
  sinceMonotonicMillis: !isPassing(state.node.status)
    ? null
    : state.statusSinceMillis === belief.state.statusSinceMillis && state.node.status === belief.state.node.status
      ? belief.sinceMonotonicMillis
      : monotonicMillis
})

/** The state of a node when a reply first shows it. It may date from as early as the request. */
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
 * The codec decodes a missing status as an empty text, and a status of another type as its JSON (assumption A10 in
 * docs/interface/assumptions.md).
 */
const isJson = /^(?:null|true|false|-?\d.*|[[{].*)?$/s

/** Whether it is a status, known or not. */
export const isStatus = (status: NodeStatus): boolean => isKnown(status) || !isJson.test(status.unknown)

/** Fields of another type are kept unchanged, under their wire names. */
const wireNames = { publicIp: "public_ip_address", privateIp: "private_ip_address" } as const

/** Whether this record does not state an address that another record may have. */
const isUnread = (node: Node, field: keyof Node): boolean =>
  (field === "publicIp" || field === "privateIp") && node[field] === null && wireNames[field] in node.extra

/**
 * The record, completed with known values: a field that is missing or has another type is unknown, and nothing is reported
 * about it. Returns the same object if nothing is missing.
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
 * What the last record of each shape stated about a node; null before the first. Lists and single reads may differ permanently,
 * for example in an address that only one of them has, or in the plan's name. So a change counts only between two statements of
 * the same shape.
 */
interface Statements {
  readonly list: Readonly<Statement> | null
  readonly read: Readonly<Statement> | null
}

const addresses = ["publicIp", "privateIp"] as const

const statementOf = ({ plan, privateIp, publicIp }: Node): Statement => ({ publicIp, privateIp, plan })

const isEqual = (a: Readonly<Statement> | null, b: Readonly<Statement>): boolean =>
  a !== null && a.publicIp === b.publicIp && a.privateIp === b.privateIp && a.plan === b.plan

/** A node that a single read showed first: the list's statement is unknown. */
export const firstRead = (read: Known): Known => ({
  ...read,
  statements: { list: null, read: statementOf(read.state.node) }
})

/**
 * Whether the record shows another plan, and not the known one under another name. If the catalogue lacks one of the names,
 * only statements of the same shape are compared.
 */
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
 * The record with the known addresses and plan wherever it differs only from the other shape; and the statements of the shapes
 * afterwards. Only nodes that are read singly are remembered: for all others the list states what is known.
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
  // The known values came from lists, which show all nodes.
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
    // The first statement of a shape is no news, because it may always have differed, unless the list has an address and none
    // was known.
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

/** Another spelling is not another status (A10). */
export const normal = (status: NodeStatus): string =>
  isKnown(status) ? status : `unknown:${status.unknown.toLowerCase().replace(/[\s_-]/g, "")}`

/** Fields whose null may only mean that one of the three record shapes omits them (A8). */
const omissible = Struct.keys(Struct.omit(Node.fields, noneWhenNull))

/** The node as seen now, with missing fields taken from an earlier record. */
export const completed = (node: Node, earlier: Node): Node => {
  const omitted = omissible.filter((field) => node[field] === null && earlier[field] !== null)
  // Fractions of a second may appear and disappear; the incarnation stays.
  return {
    ...node,
    createdAt: earlier.createdAt ?? node.createdAt,
    ...Object.fromEntries(omitted.map((field) => [field, earlier[field]]))
  }
}

/** Whether a field has another value; a field that no record had before counts as newly known, not as changed. */
export const isChanged = (field: keyof Node, before: Node, after: Node): boolean =>
  before[field] !== after[field] &&
  (before[field] !== null || (noneWhenNull.some((name) => name === field) && !isUnread(before, field)))

const isUnchanged = (value: unknown, before: unknown): boolean => value === null || value === before

/** Whether the record has nothing new in any stored field; a missing field is unknown, not changed. */
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
