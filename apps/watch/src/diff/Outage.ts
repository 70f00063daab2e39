/**
 * When the service counts as unreadable, and when it is readable again: one report of each for one outage, and none for single
 * failed requests.
 */
import type { Draft } from "./Draft.ts"

/** So many failed requests in a row are an outage. */
const maxFailures = 3

/** So is a time without a complete sweep: this long, or two sweeps as planned if those are longer. */
const minLateMillis = 60_000

/** It is over after a complete sweep, and no failed request for so long. */
const quietMillis = 60_000

/** A request failed. */
export const afterFailure = (draft: Draft, message: string): void => {
  const { now } = draft
  draft.note({ failures: draft.evidence.failures + 1, failedMonotonicMillis: now.monotonicMillis })
  if (draft.evidence.failures >= maxFailures || isLate(draft)) degrade(draft, message)
}

/** A request was answered. */
export const afterAnswer = (draft: Draft): void => {
  if (draft.evidence.failures > 0) draft.note({ failures: 0 })
  afterSilence(draft)
}

/** Time passed, whether or not anything was answered: a request may hang, and the service may ask for a long pause. */
export const afterSilence = (draft: Draft): void => {
  if (isLate(draft)) degrade(draft, "The list was not read to its end for too long.")
}

const isLate = ({ evidence, now, rules }: Draft): boolean => {
  const since = Math.max(evidence.completedMonotonicMillis, evidence.begun.monotonicMillis)
  return now.monotonicMillis - since > Math.max(minLateMillis, 2 * rules.sweepMillis)
}

const degrade = (draft: Draft, message: string): void => {
  if (draft.standing.outage !== null) return
  draft.change({ outage: { sinceMillis: draft.now.atMillis } })
  draft.degrade({ trouble: "sweep-failed", message, expected: draft.snapshot.nodes.size, missing: 0 })
}

/** The list was read to its end. */
export const afterCompleteSweep = (draft: Draft): void => {
  const { evidence, now, standing } = draft
  draft.note({ completedMonotonicMillis: now.monotonicMillis })
  if (standing.outage === null || now.monotonicMillis - evidence.failedMonotonicMillis < quietMillis) return
  draft.change({ outage: null })
  draft.recover("sweep-failed", "reachable", standing.outage.sinceMillis)
}
