/**
 * When a node is believed to be gone. A node that is not listed is only a suspect: a paged list is not a snapshot, and items
 * shift while pages are read. Two reads of the node itself confirm a suspicion.
 */
import type { Node } from "@berth/core/domain/Node"
import type { Exchange, Moment } from "./Observation.ts"

/** The evidence that a node is gone, since it was last seen. Seeing it once more discards all of it. */
export interface Absence {
  /** Begin of the newest complete sweep that lacked it; null when none did. */
  readonly unlisted: Moment | null
  /** How many complete sweeps in a row lacked it. */
  readonly sweeps: number
  /** The first read that answered 404. */
  readonly firstMissing: Exchange | null
  /** The read that answered 404 again, at least the grace after the first. */
  readonly confirmed: Exchange | null
  /** Whether a freeze ended by believing that this node is gone: it does not start another one. */
  readonly believed: boolean
}

/** A node, and the evidence that it is gone; null while there is none. */
interface Suspect {
  readonly node: Node
  readonly absence: Absence | null
}

const noEvidence: Absence = {
  unlisted: null,
  sweeps: 0,
  firstMissing: null,
  confirmed: null,
  believed: false
}

/** A node last seen terminating is expected to disappear. */
export const isExpectedToGo = ({ node }: Suspect): boolean => node.status === "terminate"

/** How long after the first 404 the second may be requested. */
export interface Grace {
  /** For a node that was not seen terminating. */
  readonly graceMillis: number
  /** For a node last seen terminating. */
  readonly terminatingGraceMillis: number
}

/** How long a node has to stay missing before its 404 counts as confirmed. */
export const graceOf = (suspect: Suspect, grace: Grace): number =>
  isExpectedToGo(suspect) ? Math.min(grace.graceMillis, grace.terminatingGraceMillis) : grace.graceMillis

/** A complete sweep that began at `unlisted` lacked the node. */
export const afterSweep = (absence: Absence | null, unlisted: Moment): Absence => {
  const before = absence ?? noEvidence
  return { ...before, unlisted, sweeps: before.sweeps + 1 }
}

/** A read of the node answered 404. */
export const afterMissing = (suspect: Suspect, read: Exchange, grace: Grace): Absence => {
  const before = suspect.absence ?? noEvidence
  const { confirmed, firstMissing } = before
  if (confirmed !== null) return before
  if (firstMissing === null) return { ...before, firstMissing: read }
  const apart = read.asked.monotonicMillis - firstMissing.answered.monotonicMillis
  return apart >= graceOf(suspect, grace) ? { ...before, confirmed: read } : before
}

/** A freeze ended by believing the list: each node has to answer 404 anew, for old answers may be as wrong as it was. */
export const believe = (absence: Absence): Absence => ({
  ...absence,
  firstMissing: null,
  confirmed: null,
  believed: true
})

/** The read that proves the node gone: the second 404, once the list lacks the node too or it was seen terminating. */
export const confirmedGone = (suspect: Suspect): Exchange | null => {
  if (suspect.absence === null) return null
  const { confirmed, unlisted } = suspect.absence
  return confirmed !== null && (unlisted !== null || isExpectedToGo(suspect)) ? confirmed : null
}
