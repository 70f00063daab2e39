/**
 * The health of a sink's receiver, derived from its answers: how an attempt ended, when a failed one is retried, and whether
 * the receiver is reachable. Pure.
 */
import type { Delivery } from "../store/deliveries.ts"

/**
 * `unavailable`: the receiver was unreachable, busy or failing, so any other event would have failed as well. `refused`: the
 * receiver did not accept this event. `undeliverable`: the receiver will never accept this event. `gone`: the receiver wants no more events.
 */
type FailureKind = "unavailable" | "refused" | "undeliverable" | "gone"

export interface Failed {
  readonly _tag: "Failed"
  readonly kind: FailureKind
  /** In a few words, without secrets. */
  readonly reason: string
  /** The pause that the receiver asked for; null if it asked for none. */
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

const templateFailed = "the template failed: "

/** The user's own template gives nothing for an event, so the event was not sent. */
export const failedInTemplate = (why: string): Failed => failed("refused", `${templateFailed}${why}`)

/** Whether the reason of a failure is that of a template. */
export const isTemplateFailure = (reason: string | null): boolean => reason?.startsWith(templateFailed) ?? false

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/**
 * Pauses between attempts: the schedule of Standard Webhooks, slightly randomised so that the events of one outage are not all
 * retried at the same moment. The first attempt is immediate.
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

/** Bounds for the pause that a receiver asks for. Some receivers send `Retry-After: 0` while they are down. */
const minRetryAfterMillis = second
const maxRetryAfterMillis = hour

/** The requested pause, within bounds. */
const boundedRetryAfter = (millis: number): number =>
  Math.min(Math.max(millis, minRetryAfterMillis), maxRetryAfterMillis)

/** Changes a pause by up to a tenth, shorter or longer. `chance` is from 0 to 1. */
const spread = (millis: number, chance: number): number => Math.round(millis * (0.9 + 0.2 * chance))

/**
 * When this process should attempt a delivery that another process may have left. The clock of the other process may be minutes ahead, so
 * the stored time is limited. `forMillis`: how long the event of a change is held back before delivery, to see whether the change lasts.
 */
export const dueHere = (
  { attempt, dueMillis, held }: Pick<Delivery, "attempt" | "dueMillis" | "held">,
  nowMillis: number,
  forMillis: number
): number => {
  const longest = attempt > 0 ? (retryDelay(attempt, null, 1) ?? 0) : held === null ? 0 : forMillis
  return Math.min(dueMillis, nowMillis + longest)
}

/**
 * When to retry a delivery that was tried early and failed: at the time it was due anyway, but not sooner than the receiver
 * asks.
 */
export const dueAfterEarly = (
  delivery: Pick<Delivery, "attempt" | "dueMillis" | "held">,
  retryAfterMillis: number | null,
  nowMillis: number
): number =>
  // The due time may come from a process whose clock was ahead.
  Math.max(dueHere(delivery, nowMillis, 0), nowMillis + boundedRetryAfter(retryAfterMillis ?? 0))

/** The pause after this number of failed attempts, from 1; null after the last. */
export const retryDelay = (attempts: number, retryAfterMillis: number | null, chance: number): number | null => {
  const delay = delaysMillis[attempts - 1]
  if (delay === undefined) return null
  return Math.max(spread(delay, chance), boundedRetryAfter(retryAfterMillis ?? 0))
}

/**
 * Whether the receiver of a sink is reachable. A receiver is down if attempts for three queues (one per node) find it
 * unavailable, and it answers no attempt in between. The courier then tries one event from time to time, and the others
 * wait without using up their attempts. A receiver is failing if it answers three times in a row without accepting an
 * event. Every event then keeps its schedule, and the daemon tells operators.
 */
export interface Health {
  /** When the next event is tried while the receiver is down; null while it is up. */
  readonly probeAtMillis: number | null
  /** The receiver asked for a pause until this instant, so no attempts are made before it; 0 without a pause. */
  readonly pausedUntilMillis: number
  /** The queues whose attempts have found the receiver unavailable since an attempt last reached it. */
  readonly failedQueues: ReadonlyArray<string>
  /** The number of attempts that have found the receiver unavailable in the same time. */
  readonly failures: number
  /** Failed attempts of any kind since the last success. */
  readonly failuresInRow: number
  /** When the attempts without any success began; null after a success, or if nothing is pending. */
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

/**
 * After this many failures in a row, the receiver counts as failing, because a single event is unlikely to have caused
 * all of them.
 */
const failuresUntilFailing = 3

/** The states of a receiver, best first. `retrying`: an attempt failed and will be repeated, which is no trouble yet. */
export const receiverStates = ["up", "retrying", "failing", "down"] as const
export type ReceiverState = (typeof receiverStates)[number]

/** The state of the receiver according to its answers. `isRetrying`: whether a pending event has failed before. */
export const receiverState = ({ failuresInRow, probeAtMillis }: Health, isRetrying: boolean): ReceiverState => {
  if (probeAtMillis !== null) return "down"
  if (failuresInRow >= failuresUntilFailing) return "failing"
  return isRetrying ? "retrying" : "up"
}

/** Pause between two attempts while the receiver is down. */
const probeMillis = 60_000

const queuesUntilDown = 3

/** A sink is disabled if its attempts fail for this long without a success. */
export const maxFailingMillis = 5 * 86_400_000

/** The state of the receiver after a failed attempt for `queue`, one of `queues`. */
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
  // The receiver has judged this event, so it is reachable.
  if (kind !== "unavailable") return { ...healthy, failuresInRow, failingSinceMillis }
  const failedQueues = health.failedQueues.includes(queue) ? health.failedQueues : [...health.failedQueues, queue]
  const failures = health.failures + 1
  // With fewer than three queues, the receiver is down when all of them have failed. A single queue gets a second attempt
  // first.
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
