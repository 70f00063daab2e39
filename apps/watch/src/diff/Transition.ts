/**
 * How long nodes are in the statuses that they pass through, and from when on one of them is stuck.
 */
import type { Draft } from "./Draft.ts"
import type { Durations } from "./Evidence.ts"
import { isPassing, type NodeState, type Passing } from "./NodeState.ts"
import type { Rules } from "./Rules.ts"

/** Of each status so many are kept. */
const maxDurations = 200

/** With fewer, nothing is learned. */
const minDurations = 20

/** A node left its status: how long it was in it, where this process saw it come. */
export const learnDuration = (draft: Draft, { node, statusSinceMillis }: NodeState): void => {
  const { status } = node
  const since = draft.evidence.transitions.get(node.id)
  if (!isPassing(status) || since === undefined || since <= draft.evidence.begun.monotonicMillis) return
  if (statusSinceMillis === draft.standing.baselineMillis) return
  const { durations } = draft.evidence
  const kept = [...durations[status], draft.now.monotonicMillis - since].slice(-maxDurations)
  draft.note({ durations: { ...durations, [status]: kept } })
}

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

/** When a node in this status is stuck: after the time that such nodes take, or at the limit set for it. */
export const stuckAfterMillis = (
  durations: Durations,
  status: Passing,
  { minStuckMillis, stuckMillis }: Rules
): number => {
  const usual = usualMillis(durations, status)
  return usual === null ? stuckMillis[status] : Math.min(stuckMillis[status], Math.max(minStuckMillis, usual))
}
