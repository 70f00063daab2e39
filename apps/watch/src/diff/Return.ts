/**
 * Nodes reported deleted that are seen again, and statuses that cannot follow the one before: both are what a stale list or a
 * stale reply shows. A single read believes neither without another one a grace later.
 */
import type { Node } from "@berthkit/core/domain/Node"
import { isKnown, type KnownStatus, type NodeStatus } from "@berthkit/core/domain/NodeStatus"
import type { Exchange, Moment } from "./Observation.ts"

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

/** How far a node has come (A11): it never goes back. */
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
