/**
 * What a reply says of the allowance: as it came, and translated into instants of our own.
 */
import * as ServiceClock from "./ServiceClock.ts"

/** What is known when a request goes, for its reply to be set against. */
export interface Sending {
  readonly sentAt: number
  /** `State.ended` and `State.unreported` before it went. */
  readonly endedBefore: number
  readonly unreportedBefore: number
}

/** What one reply said. */
export interface Observation extends Sending {
  readonly receivedAt: number
  /** Whether the request was refused for want of allowance (429). */
  readonly refused: boolean
  /** Whether the reply is of a fault (5xx), perhaps of something before the service. */
  readonly fault: boolean
  /** `Retry-After` in milliseconds. */
  readonly retryAfterMillis: number | null
  /** How far our wall clock is ahead of the monotonic one. */
  readonly wallAheadMillis: number
  /** `Date`, milliseconds since the epoch. */
  readonly date: number | null
  readonly limit: number | null
  readonly remaining: number | null
  /** `ratelimit-reset` as it came: seconds since the epoch, or, below 10⁹, from now. */
  readonly reset: number | null
}

/** What a reply said of the allowance, in our own time. */
export interface Report {
  readonly limit: number
  /** Left after everything the service had counted, less what was lost without a reply since. */
  readonly remaining: number
  /** The reset as the service wrote it: equal values mean the same stretch of allowance. */
  readonly resetSeconds: number
  /** When the reset has certainly come, and our best guess of when it comes. */
  readonly resetBy: number
  readonly resetAround: number
  /** The instant that another statement gives for the same reset; undefined while there is none, and the reset is far off. */
  readonly agreed?: number | undefined
  /** One request goes at this instant to ask again, however far off the reset is said to be. Infinite where it is believed. */
  readonly askBy: number
  readonly sentAt: number
  readonly receivedAt: number
  /** Requests ended before this one was sent, and sent before it was answered: what it may and may not have counted. */
  readonly endedBefore: number
  readonly sentBy: number
  /** `State.unreported` when it was made. */
  readonly unreportedBy: number
}

/** What a report says to others, who sent requests of their own. */
export type SharedReport = Omit<Report, "askBy" | "endedBefore" | "sentBy" | "unreportedBy">

/** A reset below this is seconds from now and not an epoch (decision 22). */
const minEpochSeconds = 1e9

/** The stated reset may have been rounded either way to a whole second. */
export const roundingMillis = 1000

/** How far our best guess of the service's clock may be off while its bounds are those of one `Date`. */
export const clockMillis = 500

/** A day: no window is believed to be longer, so that garbage in a header cannot stop a client for ever. */
export const maxWindowMillis = 86_400_000

/** Whether a reset is a length of time from now, and not an instant. */
export const isRelative = (reset: number | null): boolean => reset !== null && reset < minEpochSeconds

const usable = (value: number | null): value is number => value !== null && Number.isFinite(value) && value >= 0

/** What a reply said, when it said it in a way that can be used. */
export const from = (
  observation: Observation,
  clock: ServiceClock.ServiceClock,
  { sent, unreported }: { readonly sent: number; readonly unreported: number }
): Report | undefined => {
  const { limit, receivedAt, remaining, reset, sentAt, endedBefore } = observation
  if (!usable(limit) || !usable(remaining) || !usable(reset) || limit < 1) return undefined
  const relative = isRelative(reset)
  const resetMillis = reset * 1000
  const resetBy = relative
    ? receivedAt + resetMillis + roundingMillis
    : ServiceClock.certainlyReachedAt(clock, resetMillis + roundingMillis)
  const resetAround = relative ? sentAt + resetMillis : ServiceClock.probablyReachedAt(clock, resetMillis)
  const latest = receivedAt + maxWindowMillis
  return {
    limit,
    remaining: Math.min(remaining, limit),
    resetSeconds: relative ? Math.round((sentAt + resetMillis) / 1000) : reset,
    resetBy: Math.min(latest, Math.max(receivedAt, resetBy)),
    resetAround: Math.min(latest, Math.max(receivedAt, resetAround)),
    askBy: Number.POSITIVE_INFINITY,
    sentAt,
    receivedAt,
    endedBefore,
    sentBy: sent,
    unreportedBy: unreported
  }
}
