/**
 * When a node is believed to be gone. Not being listed is a suspicion only: a paged list is not a snapshot, and items
 * shift while pages are read. A suspicion is confirmed by asking for the node itself, twice.
 */
import type { Exchange, Moment } from "./Observation.ts"
import type { Known } from "./Snapshot.ts"

/** The evidence that a node is gone, since it was last seen. Seeing it once more throws all of it away. */
export interface Absence {
  /** Begin of the newest complete sweep that lacked it; null when none did. */
  readonly unlisted: Moment | null
  /** How many complete sweeps in a row lacked it. */
  readonly sweeps: number
  /** The first look that answered 404. */
  readonly firstMissing: Exchange | null
  /** The look that answered 404 again, at least the grace after the first. */
  readonly confirmed: Exchange | null
  /** Whether a freeze ended by believing that this node is gone: it does not start another one. */
  readonly believed: boolean
}

/** Nothing speaks against the node yet. */
const noEvidence: Absence = {
  unlisted: null,
  sweeps: 0,
  firstMissing: null,
  confirmed: null,
  believed: false
}

/** A node last seen terminating is expected to disappear. */
export const isExpectedToGo = (known: Known): boolean => known.node.status === "terminate"

/** How long after the first 404 the second may be asked for. */
export interface Grace {
  /** For a node that nobody was seen to delete. */
  readonly graceMillis: number
  /** For a node last seen terminating. */
  readonly terminatingGraceMillis: number
}

/** How long a node has to stay missing before its 404 counts as confirmed. */
export const graceOf = (known: Known, grace: Grace): number =>
  isExpectedToGo(known) ? Math.min(grace.graceMillis, grace.terminatingGraceMillis) : grace.graceMillis

/** A complete sweep that began at `unlisted` lacked the node. */
export const afterSweep = (absence: Absence | null, unlisted: Moment): Absence => {
  const before = absence ?? noEvidence
  return { ...before, unlisted, sweeps: before.sweeps + 1 }
}

/** A look at the node answered 404. */
export const afterMissing = (known: Known, look: Exchange, grace: Grace): Absence => {
  const before = known.absence ?? noEvidence
  const { confirmed, firstMissing } = before
  if (confirmed !== null) return before
  if (firstMissing === null) return { ...before, firstMissing: look }
  const apart = look.asked.upMillis - firstMissing.answered.upMillis
  return apart >= graceOf(known, grace) ? { ...before, confirmed: look } : before
}

/** A freeze ended by believing the list: each node has to answer 404 anew, for old answers may be as wrong as it was. */
export const believe = (absence: Absence): Absence => ({
  ...absence,
  firstMissing: null,
  confirmed: null,
  believed: true
})

/**
 * Whether the node is gone: 404 twice, and the list agrees. The list need not be asked about a node that was seen
 * terminating.
 */
export const proofOfDeath = (known: Known): Exchange | null => {
  if (known.absence === null) return null
  const { confirmed, unlisted } = known.absence
  return confirmed !== null && (unlisted !== null || isExpectedToGo(known)) ? confirmed : null
}
