/**
 * How a node moves: which status can follow which, how long it stays in each, and how it returns after it was reported deleted. Stale lists
 * and replies show nodes that are gone, and old statuses. So one read proves neither that a node has returned nor that it has such a
 * status. A second read is needed, at least a grace later.
 */
import type { Node } from "@berthkit/core/domain/Node"
import { isKnown, type KnownStatus, type NodeStatus } from "@berthkit/core/domain/NodeStatus"
import type { Exchange, Moment } from "./Observation.ts"

/** The order of statuses (assumption A11 in docs/interface/assumptions.md): a node never goes back. */
const progress: Readonly<Record<KnownStatus, number>> = {
  creating: 0,
  created: 1,
  running: 2,
  "power-off": 2,
  terminate: 3
}

/** Whether a node can get from status `from` to `to`. Nothing follows `terminate`. */
export const canFollow = (from: NodeStatus, to: NodeStatus): boolean => {
  if (from === "terminate") return to === "terminate"
  return !isKnown(from) || !isKnown(to) || progress[to] >= progress[from]
}

/** A status that a node leaves by itself (A11). */
type Passing = "creating" | "created" | "terminate"

export const isPassing = (status: NodeStatus): status is Passing =>
  status === "creating" || status === "created" || status === "terminate"

/** Milliseconds, by status. */
export type Durations = Readonly<Record<Passing, ReadonlyArray<number>>>

/** Maximum number of durations that are kept per status. */
const maxDurations = 200

/** Nothing is concluded from fewer durations than this. */
const minDurations = 20

/** How long a node was in a status, in milliseconds. */
export interface Lasted {
  readonly status: Passing
  readonly millis: number
}

/** Adds the time that a node was in a status. */
export const learned = (durations: Durations, { millis, status }: Lasted): Durations => ({
  ...durations,
  [status]: [...durations[status], millis].slice(-maxDurations)
})

/** The next node may need only half the time of the fastest so far. */
const minQuickness = 0.5

/** The minimum time that nodes stay in this status, according to those seen so far; 0 while there are too few. */
export const soonestMillis = (durations: Durations, status: Passing): number => {
  const known = durations[status]
  return known.length < minDurations ? 0 : minQuickness * Math.min(...known)
}

/** The time within which 99 of 100 nodes left the status; null while there are too few. */
const usualMillis = (durations: Durations, status: Passing): number | null => {
  const known = durations[status]
  if (known.length < minDurations) return null
  return known.toSorted((a, b) => a - b)[Math.ceil(known.length * 0.99) - 1] ?? null
}

/** When a node counts as stuck. */
export interface StuckLimits {
  /** A node is never stuck before this time in transition, however fast such nodes usually are. */
  readonly minStuckMillis: number
  /** How long a node may be in transition before it is stuck, by status. */
  readonly stuckMillis: Readonly<Record<Passing, number>>
}

/** When a node in this status is stuck: after the usual time of such nodes, or at the configured limit. */
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
  /** The node as it was last seen. */
  readonly node: Node
  /** The read that showed the node; null if only lists showed it, or if a later read answered 404. */
  readonly found: Exchange | null
  /** `Moment.order` of the last reply that showed the node. */
  readonly seenOrder: number
  /** Number of reads that answered 404 since the node is listed again. */
  readonly denials: number
  /** When the node may be read again, on the monotonic clock. */
  readonly notBeforeMonotonicMillis: number
}

/** Maximum pause between reads of a node that lists show and reads do not. The pause grows with each read. */
const maxPauseMillis = 3_600_000

/** The return after a list showed the node. */
export const afterListed = (before: Return | null, node: Node, seen: Exchange): Return => ({
  node,
  found: before?.found ?? null,
  seenOrder: seen.answered.order,
  denials: before?.denials ?? 0,
  notBeforeMonotonicMillis: before?.notBeforeMonotonicMillis ?? 0
})

/** The return after a read showed the node; `"returned"` if another read also showed it, at least a grace earlier. */
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

/** The return after a read answered 404: the node is still gone. */
export const afterDenied = (before: Return, { answered }: Exchange, graceMillis: number): Return => ({
  ...before,
  found: null,
  denials: before.denials + 1,
  notBeforeMonotonicMillis:
    answered.monotonicMillis + Math.min(maxPauseMillis, graceMillis * 2 ** Math.min(before.denials, 20))
})

/** Whether another read of the node is worth a request, because a read has shown the node, or a list has since `since`. */
export const isOpen = ({ found, seenOrder }: Return, since: Moment): boolean =>
  found !== null || seenOrder > since.order
