/**
 * How long nodes are in the statuses that they pass through, and from when on one of them is stuck.
 */
import type { Known } from "./Belief.ts"
import type { Durations, Evidence } from "./Evidence.ts"
import { isPassing, type Passing } from "./NodeState.ts"
import type { Moment } from "./Observation.ts"
import type { Rules } from "./Rules.ts"
import type { Standing } from "./Standing.ts"

/** Of each status so many are kept. */
const maxDurations = 200

/** With fewer, nothing is learned. */
const minDurations = 20

/** How long a node was in a status, in milliseconds. */
export interface Lasted {
  readonly status: Passing
  readonly millis: number
}

/** How long a node was in the status that it leaves, where this process saw it come. */
export const lasted = (
  { sinceMonotonicMillis: since, state }: Known,
  { begun }: Evidence,
  { baselineMillis }: Standing,
  { monotonicMillis }: Moment
): Lasted | undefined => {
  const { status } = state.node
  if (!isPassing(status) || since === null || since <= begun.monotonicMillis) return undefined
  if (state.statusSinceMillis === baselineMillis) return undefined
  return { status, millis: monotonicMillis - since }
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

/** When a node in this status is stuck: after the time that such nodes take, or at the limit set for it. */
export const stuckAfterMillis = (
  durations: Durations,
  status: Passing,
  { minStuckMillis, stuckMillis }: Rules
): number => {
  const usual = usualMillis(durations, status)
  return usual === null ? stuckMillis[status] : Math.min(stuckMillis[status], Math.max(minStuckMillis, usual))
}
