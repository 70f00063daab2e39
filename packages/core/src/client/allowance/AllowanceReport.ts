/**
 * The allowance in a reply, as received and converted to our own clock.
 */
import { minEpochSeconds } from "../../api/AllowanceHeaders.ts"
import * as ServiceClock from "./ServiceClock.ts"

/** The state when a request is sent, which is compared with the reply. */
export interface Sending {
  readonly sentAt: number
  /** `State.ended` and `State.unreported` before the request. */
  readonly endedBefore: number
  readonly unreportedBefore: number
}

/** One reply, as received. */
export interface Observation extends Sending {
  readonly receivedAt: number
  /** Whether the request was rejected over the rate limit (429). */
  readonly refused: boolean
  /** Whether the reply is a 5xx, possibly of a proxy in front of the service. */
  readonly fault: boolean
  /** `Retry-After` in milliseconds. */
  readonly retryAfterMillis: number | null
  /** How far our wall clock is ahead of the monotonic one. */
  readonly wallAheadMillis: number
  /** `Date`, milliseconds since the epoch. */
  readonly date: number | null
  readonly limit: number | null
  readonly remaining: number | null
  /** `ratelimit-reset` as received: seconds since the epoch, or from now if below 10⁹. */
  readonly reset: number | null
}

/** The allowance reported by a reply, on our own clock. */
export interface Report {
  readonly limit: number
  /** Requests left according to the reply, minus later requests that the service counted without reporting the allowance. */
  readonly remaining: number
  /** The reset as the service wrote it. Equal values mean the same period. */
  readonly resetSeconds: number
  /** The instant at which the reset has certainly come, and the best guess of when it comes. */
  readonly resetBy: number
  readonly resetAround: number
  /** The reset, if it is near, or the second statement that agrees with it; undefined if nothing confirms the reset. */
  readonly agreed?: number | undefined
  /** When one request is sent to ask again, however late the stated reset is. Infinite if the reset is believed. */
  readonly askBy: number
  readonly sentAt: number
  readonly receivedAt: number
  /**
   * How many requests had ended before this request was sent, and how many had been sent before its reply came. The
   * service has counted at least the first number and at most the second.
   */
  readonly endedBefore: number
  readonly sentBy: number
  /** `State.unreported` at the time of the report. */
  readonly unreportedBy: number
}

/** The part of a report that other processes of the user can use for their own requests. */
export type SharedReport = Omit<Report, "askBy" | "endedBefore" | "sentBy" | "unreportedBy">

/** The stated reset may have been rounded by up to a second in either direction. */
export const roundingMillis = 1000

/** How far our best guess of the service's clock may be off if only one `Date` was seen. */
export const clockMillis = 500

/**
 * One day. Berth does not believe in a longer window, because an invalid header could otherwise stop a client
 * indefinitely.
 */
export const maxWindowMillis = 86_400_000

/** Whether a reset is a duration from now and not an instant. */
export const isRelative = (reset: number | null): boolean => reset !== null && reset < minEpochSeconds

const usable = (value: number | null): value is number => value !== null && Number.isFinite(value) && value >= 0

/** The report of a reply; undefined if the reply has no usable report. */
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
