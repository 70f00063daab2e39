/**
 * What a reply reports of the allowance: as received, and translated into instants of our own clock.
 */
import { minEpochSeconds } from "../../api/AllowanceHeaders.ts"
import * as ServiceClock from "./ServiceClock.ts"

/** What is known when a request goes, to compare its reply with. */
export interface Sending {
  readonly sentAt: number
  /** `State.ended` and `State.unreported` before it went. */
  readonly endedBefore: number
  readonly unreportedBefore: number
}

/** One reply, as received. */
export interface Observation extends Sending {
  readonly receivedAt: number
  /** Whether the request was refused over the rate limit (429). */
  readonly refused: boolean
  /** Whether the reply is a 5xx, perhaps of a proxy before the service. */
  readonly fault: boolean
  /** `Retry-After` in milliseconds. */
  readonly retryAfterMillis: number | null
  /** How far our wall clock is ahead of the monotonic one. */
  readonly wallAheadMillis: number
  /** `Date`, milliseconds since the epoch. */
  readonly date: number | null
  readonly limit: number | null
  readonly remaining: number | null
  /** `ratelimit-reset` as received: seconds since the epoch, or, below 10⁹, from now. */
  readonly reset: number | null
}

/** What a reply reports of the allowance, on our own clock. */
export interface Report {
  readonly limit: number
  /** Left after everything the service had counted, less the requests that were lost without a reply since. */
  readonly remaining: number
  /** The reset as the service wrote it. Equal values mean the same period of the allowance. */
  readonly resetSeconds: number
  /** When the reset has certainly come, and our best guess of when it comes. */
  readonly resetBy: number
  readonly resetAround: number
  /** The same reset from a second statement; undefined while there is none and the reset is far off. */
  readonly agreed?: number | undefined
  /** One request goes at this instant to ask again, however far off the stated reset is. Infinite where that is believed. */
  readonly askBy: number
  readonly sentAt: number
  readonly receivedAt: number
  /** Requests ended before this one was sent, and requests sent before its reply: the bounds of what it counted. */
  readonly endedBefore: number
  readonly sentBy: number
  /** `State.unreported` when it was made. */
  readonly unreportedBy: number
}

/** The part of a report that own processes can use, which sent requests of their own. */
export type SharedReport = Omit<Report, "askBy" | "endedBefore" | "sentBy" | "unreportedBy">

/** The stated reset may have been rounded either way to a whole second. */
export const roundingMillis = 1000

/** How far our best guess of the service's clock may be off while its bounds are those of one `Date`. */
export const clockMillis = 500

/** A day. No longer window is believed, so that garbage in a header cannot stop a client for ever. */
export const maxWindowMillis = 86_400_000

/** Whether a reset is a length of time from now, and not an instant. */
export const isRelative = (reset: number | null): boolean => reset !== null && reset < minEpochSeconds

const usable = (value: number | null): value is number => value !== null && Number.isFinite(value) && value >= 0

/** The report of a reply; undefined when it has none that can be used. */
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
