/**
 * The receiver of a sink, as its answers show it: how one attempt to deliver an event ended, when one that failed is made again, and
 * whether the receiver is there. Pure.
 */
import type { Delivery } from "../store/deliveries.ts"

/**
 * `unavailable`: the receiver could not be reached, was busy or failed; any event would have met the same. `refused`: it did not
 * accept this event. `gone`: it wants no more events.
 */
type FailureKind = "unavailable" | "refused" | "gone"

export interface Failed {
  readonly _tag: "Failed"
  readonly kind: FailureKind
  /** In a few words, without secrets. */
  readonly reason: string
  /** For how long the receiver asked not to be called; null when it did not. */
  readonly retryAfterMillis: number | null
}

export type Outcome = { readonly _tag: "Delivered" } | Failed

export const delivered: Outcome = { _tag: "Delivered" }

export const failed = (kind: FailureKind, reason: string, retryAfterMillis: number | null = null): Failed => ({
  _tag: "Failed",
  kind,
  reason,
  retryAfterMillis
})

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/**
 * From one attempt to the next: the schedule of Standard Webhooks, spread a little so that the events of one outage do not all come back at
 * one moment. The first is at once.
 */
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
const boundedRetryAfter = (millis: number): number =>
  Math.min(Math.max(millis, minRetryAfterMillis), maxRetryAfterMillis)

/** Up to a tenth less or more. `chance` is from 0 to 1. */
const spread = (millis: number, chance: number): number => Math.round(millis * (0.9 + 0.2 * chance))

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

/**
 * Whether the receiver of a sink is there. One that fails for three queues in a row is down: then one event is tried now and
 * then, and the others wait without using up their attempts. One that answers and takes nothing three times in a row is failing:
 * every event keeps its schedule, and an operator is told.
 */
export interface Health {
  /** When the next event is tried while the receiver is down; null while it is up. */
  readonly probeAtMillis: number | null
  /** The receiver asked for no request before this; 0 when it did not. */
  readonly pausedUntilMillis: number
  /** Different queues whose attempts failed since the last that was answered. */
  readonly failedQueues: ReadonlyArray<string>
  /** Those attempts. */
  readonly failures: number
  /** Attempts of any kind that failed since the last success. */
  readonly failuresInRow: number
  /** Since when nothing was delivered although it was tried; null when it was, or nothing is left to deliver. */
  readonly failingSinceMillis: number | null
}

export const healthy: Health = {
  probeAtMillis: null,
  pausedUntilMillis: 0,
  failedQueues: [],
  failures: 0,
  failuresInRow: 0,
  failingSinceMillis: null
}

/** So many failures in a row are no accident of one event. */
const failuresUntilFailing = 3

/** How a receiver may be, the best first. `retrying`: an attempt failed, and the event is attempted again; that is no trouble yet. */
export const receiverStates = ["up", "retrying", "failing", "down"] as const
export type ReceiverState = (typeof receiverStates)[number]

/** How the receiver is as far as its answers show it. `isRetrying`: an event is left that failed before. */
export const receiverState = ({ failuresInRow, probeAtMillis }: Health, isRetrying: boolean): ReceiverState => {
  if (probeAtMillis !== null) return "down"
  if (failuresInRow >= failuresUntilFailing) return "failing"
  return isRetrying ? "retrying" : "up"
}

/** Between two attempts while the receiver is down. */
const probeMillis = 60_000

const queuesUntilDown = 3

/** A sink whose attempts failed for so long, without a success, is disabled. */
export const maxFailingMillis = 5 * 86_400_000

/** How the receiver is after a failed attempt for `queue`, one of `queues`. */
export const afterFailure = (
  health: Health,
  queue: string,
  queues: number,
  { kind, retryAfterMillis }: Failed,
  nowMillis: number,
  chance: number
): Health => {
  const failingSinceMillis = health.failingSinceMillis ?? nowMillis
  const failuresInRow = health.failuresInRow + 1
  // It answered, so it is there.
  if (kind !== "unavailable") return { ...healthy, failuresInRow, failingSinceMillis }
  const failedQueues = health.failedQueues.includes(queue) ? health.failedQueues : [...health.failedQueues, queue]
  const failures = health.failures + 1
  // A sink of fewer queues is down when all have failed; one alone gets a second attempt first.
  const isDown =
    health.probeAtMillis !== null ||
    failedQueues.length >= queuesUntilDown ||
    (failures > 1 && failedQueues.length >= queues)
  const pauseMillis = retryAfterMillis === null ? null : boundedRetryAfter(retryAfterMillis)
  return {
    probeAtMillis: isDown ? nowMillis + (pauseMillis ?? spread(probeMillis, chance)) : null,
    pausedUntilMillis: pauseMillis === null ? health.pausedUntilMillis : nowMillis + pauseMillis,
    failedQueues,
    failures,
    failuresInRow,
    failingSinceMillis
  }
}
