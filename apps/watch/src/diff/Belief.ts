/**
 * The belief about one node, and how its records are compared with it. The node's row in the store outlives the process.
 * Evidence that is not conclusive yet is only in memory: it is lost with the process, and the next process collects it again.
 */
import type { Absence, Expectation } from "@berthkit/core/absence/Absence"
import { createdMillisOf, Node, noneWhenNull } from "@berthkit/core/domain/Node"
import { isKnown, type NodeStatus } from "@berthkit/core/domain/NodeStatus"
import { Schema, Struct } from "effect"
import type { PlanNames } from "./catalogue/PlanNames.ts"
import type { Exchange, Moment } from "./Observation.ts"
import { isPassing, type Return } from "./Transition.ts"

const millis = Schema.Int.annotate({ description: "Milliseconds since the epoch, on the daemon's wall clock." })

/** The lasting knowledge about one node: a row of the store. */
export const NodeState = Schema.Struct({
  /** The node as last believed; a field that was missing from the last record keeps its earlier value. */
  node: Node,
  /** When the service accepted the node, in seconds since the epoch. It distinguishes two nodes with the same id. */
  incarnation: Schema.Int,
  /** Starts at 1, and increases each time the node returns after it was reported deleted. */
  life: Schema.Int,
  /**
   * Increases with each reported change of this incarnation. Starts at 0; for a node of the baseline, at the time of the
   * baseline in milliseconds.
   */
  version: Schema.Int,
  /**
   * When a request last showed the node before this row was written: the time at which that request was sent. If the node is
   * listed, the sweeps since then have also shown it.
   */
  seenMillis: millis,
  /** Whether the last complete sweep contained the node. */
  listed: Schema.Boolean,
  /** When the node's current status was first seen. */
  statusSinceMillis: millis,
  /** Whether the node was reported as stuck in its current status. */
  stuck: Schema.Boolean,
  /** When the node was proved to be gone; null while it exists. A row with a value is a tombstone. */
  goneMillis: Schema.NullOr(millis)
}).annotate({ identifier: "NodeState" })
export interface NodeState extends Schema.Schema.Type<typeof NodeState> {}

/** The state as JSON and back: the body of the store's row. */
export const NodeStateJson = Schema.fromJsonString(Schema.toCodecJson(NodeState))

/**
 * The second in which the service accepted the node, 0 if unknown. It stays the same for the whole life of a node, even if a
 * later read shows a date that was unknown.
 */
export const incarnationOf = (node: Node): number => Math.floor((createdMillisOf(node) ?? 0) / 1000)

/**
 * Compares the incarnation of `node` with an incarnation that was accepted at `createdMillis`. Some shapes of the record omit
 * fractions of a second, so a difference of less than a second does not count; neither does a missing date. An older
 * incarnation never follows a newer one.
 */
export const compareIncarnation = (node: Node, createdMillis: number | null): "older" | "same" | "newer" => {
  const shownMillis = createdMillisOf(node)
  if (shownMillis === null || createdMillis === null) return "same"
  const apart = shownMillis - createdMillis
  return Math.abs(apart) < 1000 ? "same" : apart < 0 ? "older" : "newer"
}

/** A node that single reads show although it is missing from the list. */
interface Hidden {
  /** How many reads in a row have shown it. */
  readonly proofs: number
  readonly monotonicMillis: number
}

/**
 * The belief about an existing node. If nothing about it is in doubt, the fields from `absence` to `unstatedMillis` are null.
 */
export interface Known {
  readonly state: NodeState
  /** The newest exchange that showed the node; null if this process has not seen it yet. */
  readonly seen: Exchange | null
  /** Since when the node has been in a transitional status; null if its status is lasting. */
  readonly sinceMonotonicMillis: number | null
  /** The evidence that the node is gone; null if there is none. */
  readonly absence: Absence | null
  /** Set if single reads show the node although it is missing from the list. */
  readonly hidden: Hidden | null
  /** The first exchange that showed a status that cannot follow the current one. */
  readonly impossible: Exchange | null
  /**
   * The time of day when the node was last seen in its known state, if only records without details have shown it since then; otherwise
   * null.
   */
  readonly unstatedMillis: number | null
  /** What the two shapes of a record stated about the node's addresses and plan; null if no single read has shown the node. */
  readonly statements: Statements | null
}

/** A node that was seen terminating will disappear. */
export const expectationOf = ({ status }: Node): Expectation => (status === "terminate" ? "goes" : "stays")

/** The in-memory state of a node that was reported deleted. */
export interface Gone {
  readonly createdMillis: number | null
  readonly life: number
  readonly version: number
  /** What has shown the node again since; null if nothing has. */
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

/** The belief with another state. If the status is new, its duration is measured from now on. */
export const withState = (belief: Known, state: NodeState, { monotonicMillis }: Moment): Known => ({
  ...belief,
  state,
  sinceMonotonicMillis: !isPassing(state.node.status)
    ? null
    : state.statusSinceMillis === belief.state.statusSinceMillis && state.node.status === belief.state.node.status
      ? belief.sinceMonotonicMillis
      : monotonicMillis
})

/** The state of a node when a reply first shows it. The shown state may be as old as the request. */
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
 * The codec decodes a missing status as an empty string, and a status of another type as its JSON (assumption A10 in
 * docs/interface/assumptions.md).
 */
const isJson = /^(?:null|true|false|-?\d.*|[[{].*)?$/s

/** Whether this is a status, even if Berth does not know it. */
export const isStatus = (status: NodeStatus): boolean => isKnown(status) || !isJson.test(status.unknown)

/** Wire names of the address fields. A field whose value has another type is kept unchanged under its wire name. */
const wireNames = { publicIp: "public_ip_address", privateIp: "private_ip_address" } as const

/** Whether this record does not state the address, because its field could not be read. */
const isUnread = (node: Node, field: keyof Node): boolean =>
  (field === "publicIp" || field === "privateIp") && node[field] === null && wireNames[field] in node.extra

/**
 * The record, completed with known values. A field that is missing or has another type is unknown: it keeps the known value,
 * and nothing is reported about it. Returns the same object if nothing is missing.
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
 * What the last record of each shape (list or single read) stated about a node; null before the first. The shapes may
 * differ permanently, for example in an address that only one of them has, or in the plan's name. A difference
 * therefore counts as a change only between two statements of the same shape.
 */
interface Statements {
  readonly list: Readonly<Statement> | null
  readonly read: Readonly<Statement> | null
}

const addresses = ["publicIp", "privateIp"] as const

const statementOf = ({ plan, privateIp, publicIp }: Node): Statement => ({ publicIp, privateIp, plan })

const isEqual = (a: Readonly<Statement> | null, b: Readonly<Statement>): boolean =>
  a !== null && a.publicIp === b.publicIp && a.privateIp === b.privateIp && a.plan === b.plan

/** The belief about a node that a single read showed first: the list's statement about it is unknown. */
export const firstRead = (read: Known): Known => ({
  ...read,
  statements: { list: null, read: statementOf(read.state.node) }
})

/**
 * Whether the record shows another plan, not just another name of the known plan. If one of the names is missing from
 * the catalogue, compares only statements of the same shape.
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
 * The record to compare with the known node, and the statements of both shapes afterwards. If an address or the plan differs
 * only because the other shape states it differently, the record gets the known value. Statements are kept only for nodes that
 * single reads have shown: for all others, only lists state anything.
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
  // If there are no statements, the known values came from lists, because no single read has shown the node.
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
    // The first statement of a shape is no change, because the two shapes may always have differed. There is one
    // exception: an address in the list, if no address was known.
    const isNews = last === null ? shape === "list" && known[field] === null : value !== last[field]
    if (!isNews) believed[field] = known[field]
    stated[field] = value
  }
  const isUnchanged = isEqual(last, stated)
  // The plan has changed, so the other shape's statement about it is outdated.
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

/** A form of the status for comparisons: another spelling is not another status (assumption A10). */
export const normal = (status: NodeStatus): string =>
  isKnown(status) ? status : `unknown:${status.unknown.toLowerCase().replace(/[\s_-]/g, "")}`

/** Fields that one of the three shapes of a record may omit, so null does not mean that there is no value (assumption A8). */
const omissible = Struct.keys(Struct.omit(Node.fields, noneWhenNull))

/** The node as seen now, with missing fields taken from an earlier record. */
export const completed = (node: Node, earlier: Node): Node => {
  const omitted = omissible.filter((field) => node[field] === null && earlier[field] !== null)
  // Keep the known creation date, because some shapes of the record omit its fractions of a second.
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
