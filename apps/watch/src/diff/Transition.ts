/**
 * How a node moves: which status can follow which, how long it stays in each, and how it comes back after it was reported deleted. A stale
 * list or a stale reply shows nodes that are gone and statuses that are over: a single read believes neither without another one a grace
 * later.
 */
import type { Node } from "@berthkit/core/domain/Node"
import { isKnown, type KnownStatus, type NodeStatus } from "@berthkit/core/domain/NodeStatus"
import type { Exchange, Moment } from "./Observation.ts"

/** How far a node has come (assumption A11 in docs/interface/assumptions.md): it never goes back. */
const progress: Readonly<Record<KnownStatus, number>> = {
  creating: 0,
  created: 1,
  running: 2,
  "power-off": 2,
  terminate: 3
}

/** Whether a node in status `from` can come to `to`. Nothing comes out of `terminate`. */
export const canFollow = (from: NodeStatus, to: NodeStatus): boolean => {
  if (from === "terminate") return to === "terminate"
  return !isKnown(from) || !isKnown(to) || progress[to] >= progress[from]
}

/** A status that a node passes through by itself (A11). */
type Passing = "creating" | "created" | "terminate"

export const isPassing = (status: NodeStatus): status is Passing =>
  status === "creating" || status === "created" || status === "terminate"

/** Milliseconds, by status. */
export type Durations = Readonly<Record<Passing, ReadonlyArray<number>>>

/** Of each status so many are kept. */
const maxDurations = 200

/** With fewer, nothing is learned. */
const minDurations = 20

/** How long a node was in a status, in milliseconds. */
export interface Lasted {
  readonly status: Passing
  readonly millis: number
}

/** With another time that a node was in a status. */
export const learned = (durations: Durations, { millis, status }: Lasted): Durations => ({
  ...durations,
  [status]: [...durations[status], millis].slice(-maxDurations)
})

/** A node may be twice as quick as the quickest of those that are kept. */
const minQuickness = 0.5

/** How long a node stays in this status at least, as far as such nodes show it; 0 while too few did. */
export const soonestMillis = (durations: Durations, status: Passing): number => {
  const known = durations[status]
  return known.length < minDurations ? 0 : minQuickness * Math.min(...known)
}

/** The time within which 99 of 100 nodes left the status; null while too few did. */
const usualMillis = (durations: Durations, status: Passing): number | null => {
  const known = durations[status]
  if (known.length < minDurations) return null
  return known.toSorted((a, b) => a - b)[Math.ceil(known.length * 0.99) - 1] ?? null
}

/** From when on a node is stuck. */
export interface StuckLimits {
  /** How long a node is in transition at least before it is stuck, however fast such nodes are. */
  readonly minStuckMillis: number
  /** How long a node may be in transition before it is stuck, by its status. */
  readonly stuckMillis: Readonly<Record<Passing, number>>
}

/** When a node in this status is stuck: after the time that such nodes take, or at the limit set for it. */
export const stuckAfterMillis = (
  durations: Durations,
  status: Passing,
  { minStuckMillis, stuckMillis }: StuckLimits
): number => {
  const usual = usualMillis(durations, status)
  return usual === null ? stuckMillis[status] : Math.min(stuckMillis[status], Math.max(minStuckMillis, usual))
}

/** A node that was reported deleted and is seen again. */
export interface Return {
  /** The node as it was seen last. */
  readonly node: Node
  /** The read that showed it; null when only lists did, or when a later read answered 404. */
  readonly found: Exchange | null
  /** `Moment.order` of the last answer that showed it. */
  readonly seenOrder: number
  /** How often a read answered 404 since it is listed again. */
  readonly denials: number
  /** When it may be read again, on the monotonic clock. */
  readonly notBeforeMonotonicMillis: number
}

/** A list that shows it, while reads do not, is asked about less and less often. */
const maxPauseMillis = 3_600_000

/** A list showed it. */
export const afterListed = (before: Return | null, node: Node, seen: Exchange): Return => ({
  node,
  found: before?.found ?? null,
  seenOrder: seen.answered.order,
  denials: before?.denials ?? 0,
  notBeforeMonotonicMillis: before?.notBeforeMonotonicMillis ?? 0
})

/** A read showed it: `"returned"` when another one did so a grace before. */
export const afterFound = (
  before: Return | null,
  node: Node,
  seen: Exchange,
  graceMillis: number
): Return | "returned" => {
  const found = before?.found ?? null
  if (found !== null) {
    const apart = seen.asked.monotonicMillis - found.answered.monotonicMillis
    if (apart >= graceMillis) return "returned"
  }
  return {
    node,
    found: found ?? seen,
    seenOrder: seen.answered.order,
    denials: before?.denials ?? 0,
    notBeforeMonotonicMillis: (found ?? seen).answered.monotonicMillis + graceMillis
  }
}

/** A read answered 404: it is still gone. */
export const afterDenied = (before: Return, { answered }: Exchange, graceMillis: number): Return => ({
  ...before,
  found: null,
  denials: before.denials + 1,
  notBeforeMonotonicMillis:
    answered.monotonicMillis + Math.min(maxPauseMillis, graceMillis * 2 ** Math.min(before.denials, 20))
})

/** Whether it is worth another read: a list since `since` shows it, or a read did. */
export const isOpen = ({ found, seenOrder }: Return, since: Moment): boolean =>
  found !== null || seenOrder > since.order
