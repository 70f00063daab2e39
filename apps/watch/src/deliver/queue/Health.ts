/**
 * Whether the receiver of a sink is there. One that fails for three queues in a row is down: then one event is tried now and
 * then, and the others wait without using up their attempts. One that answers and takes nothing three times in a row is failing:
 * every event keeps its schedule, and an operator is told. Pure.
 */
import type { Failed } from "../Outcome.ts"
import { boundedRetryAfter, spread } from "./retryDelay.ts"

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

/** How the receiver is as far as its answers show it. */
export const receiverState = ({ failuresInRow, probeAtMillis }: Health): "up" | "failing" | "down" =>
  probeAtMillis !== null ? "down" : failuresInRow >= failuresUntilFailing ? "failing" : "up"

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
