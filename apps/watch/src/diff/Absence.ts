/**
 * The evidence that one node is gone. A node that is not listed is only a suspect: a paged list is not a snapshot, and the service may
 * hide nodes from its list, or answer 404 for nodes that exist. Two complete sweeps and two reads, a grace apart, have to agree.
 * `isGone` in `Sample.ts` decides when they do. The reasons are in decision 0133.
 */
import { isConfirming } from "@berthkit/core/domain/Absence"
import type { NodeState } from "./NodeState.ts"
import type { Exchange, Moment } from "./Observation.ts"

/** The evidence that a node is gone, since it was last seen. Seeing it once more discards all of it. */
export interface Absence {
  /** End of the first complete sweep that lacked it, for that may have begun long before; null when none did. */
  readonly since: Moment | null
  /** Begin of the newest one. */
  readonly last: Moment | null
  /** How many complete sweeps in a row lacked it. */
  readonly sweeps: number
  /** The first read that answered 404. */
  readonly firstMissing: Exchange | null
  /** The newest read that answered 404, at least the grace after the first. */
  readonly confirmed: Exchange | null
  /** When a sample that stood for it first answered 404, on the monotonic clock; null when none did, or that sample still stands for it. */
  readonly sampledMillis: number | null
  /** Whether it was missing for the whole hold of a freeze: then it starts no other one. */
  readonly held: boolean
  /** Whether one of its batch proved alive: then having been seen terminating does not make it expected to go. */
  readonly doubted: boolean
}

export const noAbsence: Absence = {
  since: null,
  last: null,
  sweeps: 0,
  firstMissing: null,
  confirmed: null,
  sampledMillis: null,
  held: false,
  doubted: false
}

/** How long after the first 404 the second may be requested. */
export interface Grace {
  /** For a node that was not seen terminating. */
  readonly graceMillis: number
  /** For a node last seen terminating: not longer. */
  readonly terminatingGraceMillis: number
}

/** A node seen terminating is expected to disappear, unless its absence was refuted. */
export const isExpectedToGo = ({ node }: NodeState, absence: Absence | null): boolean =>
  node.status === "terminate" && absence?.doubted !== true

/** How long a node has to answer 404. */
export const graceOf = (known: NodeState, absence: Absence | null, grace: Grace): number =>
  isExpectedToGo(known, absence) ? grace.terminatingGraceMillis : grace.graceMillis

/** A complete sweep lacked the node. */
export const afterSweep = (before: Absence, { answered, asked }: Exchange): Absence => ({
  ...before,
  since: before.since ?? answered,
  last: asked,
  sweeps: before.sweeps + 1
})

/** A read of the node answered 404. */
export const afterMissing = (before: Absence, read: Exchange, graceMillis: number): Absence => {
  const { confirmed, firstMissing } = before
  if (confirmed !== null) return { ...before, confirmed: read }
  if (firstMissing === null) return { ...before, firstMissing: read }
  return isConfirming(firstMissing.answered.monotonicMillis, read.asked.monotonicMillis, graceMillis)
    ? { ...before, confirmed: read }
    : before
}

/** Nothing was observed for a while: its hold begins anew. */
export const afterGap = (absence: Absence, now: Moment): Absence => ({ ...absence, since: now })

/**
 * It was missing for the whole hold. It has to answer 404 anew, because old answers may be as wrong as the list was. Twice; or once,
 * a grace after the hold, if it was read for many and list and reads `agreed` about them all the time.
 */
export const hold = (absence: Absence, agreed: Exchange | null): Absence => ({
  ...absence,
  firstMissing: agreed,
  confirmed: null,
  sampledMillis: null,
  held: true
})

/** One of its batch proved alive: what reads denied counts anew. */
export const doubt = (absence: Absence): Absence => ({
  ...absence,
  firstMissing: null,
  confirmed: null,
  sampledMillis: null,
  held: false,
  doubted: true
})
