/**
 * When a delivery that failed is attempted again: the schedule of Standard Webhooks, spread a little so that the events of one
 * outage do not all come back at one moment.
 */

import type { Delivery } from "../../store/deliveries.ts"

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** From one attempt to the next. The first is at once. */
const delaysMillis = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour
]

/** A receiver may not ask for a shorter pause, nor for a longer one: some that are down answer `Retry-After: 0`. */
const minRetryAfterMillis = second
const maxRetryAfterMillis = hour

/** The pause that a receiver asked for, within bounds. */
export const boundedRetryAfter = (millis: number): number =>
  Math.min(Math.max(millis, minRetryAfterMillis), maxRetryAfterMillis)

/** Up to a tenth less or more. `chance` is from 0 to 1. */
export const spread = (millis: number, chance: number): number => Math.round(millis * (0.9 + 0.2 * chance))

/**
 * When a delivery is due that another process left: its clock may be minutes ahead of this one's. `forMillis`: how long a change is held back
 * to see whether it lasts.
 */
export const dueHere = (
  { attempt, dueMillis, held }: Pick<Delivery, "attempt" | "dueMillis" | "held">,
  nowMillis: number,
  forMillis: number
): number => {
  const longest = attempt > 0 ? (retryDelay(attempt, null, 1) ?? 0) : held === null ? 0 : forMillis
  return Math.min(dueMillis, nowMillis + longest)
}

/** When a delivery is due that failed before it was: as before, but not sooner than the receiver asks. */
export const dueAfterEarly = (
  delivery: Pick<Delivery, "attempt" | "dueMillis" | "held">,
  retryAfterMillis: number | null,
  nowMillis: number
): number =>
  // A clock that was ahead would have made it late.
  Math.max(dueHere(delivery, nowMillis, 0), nowMillis + boundedRetryAfter(retryAfterMillis ?? 0))

/** The pause after so many failed attempts, from 1; null after the last. */
export const retryDelay = (attempts: number, retryAfterMillis: number | null, chance: number): number | null => {
  const delay = delaysMillis[attempts - 1]
  if (delay === undefined) return null
  return Math.max(spread(delay, chance), boundedRetryAfter(retryAfterMillis ?? 0))
}
