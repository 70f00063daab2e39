/**
 * The rate limit is the rule, and the allowance is how many requests are left now. One of three kinds of window counts the
 * requests (assumptions A20 to A22 in docs/interface/assumptions.md). A reading depends only on the counter and the instant.
 * Spending changes the counter in place, because a sliding window keeps the instant of every granted request. Instants are
 * whole milliseconds since the epoch.
 */
import { type Algorithm, algorithms } from "@berthkit/profile/algorithms"
import { Schema } from "effect"
import { Instant, WindowMillis } from "../lifecycle/bounds.ts"

/** Maximum limit of a sliding window, because such a window stores the instant of each request. */
export const maxSlidingLimit = 100_000

/** Whether the mock can count requests in such a window. */
export const canCount = ({ algorithm, limit }: { readonly algorithm?: Algorithm; readonly limit?: number }): boolean =>
  algorithm !== "sliding-window" || limit === undefined || limit <= maxSlidingLimit

export const slidingLimitSentence = `a sliding window has a limit of at most ${maxSlidingLimit}`

/** The rate limit of a world: a number of requests per window. */
export type RateLimit = typeof RateLimit.Type
export const RateLimit = Schema.Struct({
  /** Requests per window, 1 or more. Default: 1200, as in every example of interface.md §8. */
  limit: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  /** Length of the window in milliseconds, 1 or more. Default: one hour (A22). */
  windowMillis: WindowMillis,
  algorithm: Schema.Literals(algorithms)
}).check(Schema.makeFilter((rateLimit) => canCount(rateLimit) || slidingLimitSentence))

/** The values for the three headers of the rate limit, and whether the request was granted. */
export interface Reading {
  readonly granted: boolean
  readonly limit: number
  readonly remaining: number
  /**
   * When the allowance refills: with a fixed window its end, with a sliding window the instant at which its oldest request
   * no longer counts, with a bucket the instant at which it is full again.
   */
  readonly resetAt: number
  /** When the next request would be granted: `now` if any request remains. */
  readonly retryAt: number
}

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** The state of a counter, for a snapshot. An instant is `null` before the first request. */
export type AllowanceState = typeof AllowanceState.Type
export const AllowanceState = Schema.Union([
  Schema.Struct({ algorithm: Schema.Literal("fixed-window"), endsAt: Schema.NullOr(Instant), granted: Count }),
  Schema.Struct({
    algorithm: Schema.Literal("sliding-window"),
    grants: Schema.Array(Instant).check(
      Schema.isMaxLength(maxSlidingLimit, { message: `There are more than ${maxSlidingLimit}` })
    )
  }),
  Schema.Struct({ algorithm: Schema.Literal("token-bucket"), missing: Count, asOf: Schema.NullOr(Instant) })
])

/** A counter of requests under one rate limit. */
export interface Allowance {
  readonly rateLimit: RateLimit
  /** Spends one request. A refused request costs nothing (A21). */
  readonly spend: (now: number) => Reading
  /** Reads the counter without spending. */
  readonly peek: (now: number) => Reading
  readonly state: () => AllowanceState
}

/** A new counter, or one that continues from the state of a counter of the same kind. */
export const make = (rateLimit: RateLimit, state?: AllowanceState): Allowance => {
  switch (rateLimit.algorithm) {
    case "fixed-window":
      return makeFixedWindow(rateLimit, state?.algorithm === "fixed-window" ? state : undefined)
    case "sliding-window":
      return makeSlidingWindow(rateLimit, state?.algorithm === "sliding-window" ? state.grants : [])
    case "token-bucket":
      return makeTokenBucket(rateLimit, state?.algorithm === "token-bucket" ? state : undefined)
  }
}

/**
 * A counter under another rate limit, with the requests that still count at `now`. Each request counts from the moment
 * it came. If the old window does not store these moments, all requests count from the start of that window or, for a
 * bucket, from `now`. Requests beyond the new limit are dropped, because the allowance is spent without them.
 */
export const withRateLimit = (allowance: Allowance, rateLimit: RateLimit, now: number): Allowance => {
  const reading = allowance.peek(now)
  const before = allowance.state()
  const { algorithm, limit, windowMillis } = rateLimit
  const spent = Math.min(reading.limit - reading.remaining, limit)
  const since = before.algorithm === "token-bucket" ? now : reading.resetAt - allowance.rateLimit.windowMillis
  if (spent === 0) return make(rateLimit)
  switch (algorithm) {
    case "fixed-window":
      return make(rateLimit, { algorithm, endsAt: since + windowMillis, granted: spent })
    case "sliding-window":
      return make(rateLimit, {
        algorithm,
        grants: "grants" in before ? before.grants.slice(-limit) : Array.from({ length: spent }, () => since)
      })
    case "token-bucket":
      return make(rateLimit, { algorithm, missing: spent * windowMillis, asOf: now })
  }
}

const orNull = (instant: number): number | null => (Number.isFinite(instant) ? instant : null)

/** A window opens with the first request after the end of the window before, and grants `limit` requests until it ends. */
const makeFixedWindow = (
  rateLimit: RateLimit,
  from: { readonly endsAt: number | null; readonly granted: number } | undefined
): Allowance => {
  const { limit, windowMillis } = rateLimit
  let endsAt = from?.endsAt ?? Number.NEGATIVE_INFINITY
  let granted = from?.granted ?? 0
  const reading = (ok: boolean, now: number): Reading => ({
    granted: ok,
    limit,
    remaining: limit - granted,
    resetAt: endsAt,
    retryAt: granted < limit ? now : endsAt
  })
  const peek = (now: number): Reading =>
    now < endsAt
      ? reading(granted < limit, now)
      : { granted: true, limit, remaining: limit, resetAt: now + windowMillis, retryAt: now }
  return {
    rateLimit,
    state: () => ({ algorithm: "fixed-window", endsAt: orNull(endsAt), granted }),
    peek,
    spend: (now) => {
      if (now >= endsAt) {
        endsAt = now + windowMillis
        granted = 0
      }
      if (granted >= limit) return reading(false, now)
      granted += 1
      return reading(true, now)
    }
  }
}

/**
 * Grants at most `limit` requests within any `windowMillis`. A request counts until exactly `windowMillis` after it was
 * granted.
 */
const makeSlidingWindow = (rateLimit: RateLimit, from: ReadonlyArray<number>): Allowance => {
  const { limit, windowMillis } = rateLimit
  /** When the requests that still count were granted, oldest first. */
  const grants = [...from]
  const read = (now: number): Reading => {
    const first = grants.findIndex((instant) => instant + windowMillis > now)
    if (first !== 0) grants.splice(0, first < 0 ? grants.length : first)
    const isFree = grants.length < limit
    const resetAt = grants.length === 0 ? now : grants[0]! + windowMillis
    return { granted: isFree, limit, remaining: limit - grants.length, resetAt, retryAt: isFree ? now : resetAt }
  }
  return {
    rateLimit,
    state: () => ({ algorithm: "sliding-window", grants: grants.slice() }),
    peek: read,
    spend: (now) => {
      if (!read(now).granted) return read(now)
      grants.push(now)
      return { ...read(now), granted: true }
    }
  }
}

/**
 * A bucket of `limit` tokens that refills evenly over `windowMillis`. The missing part of the bucket is stored in units of 1/windowMillis
 * of a token. A granted request adds `windowMillis` units and each millisecond removes `limit` units, so nothing is ever rounded.
 */
const makeTokenBucket = (
  rateLimit: RateLimit,
  from: { readonly missing: number; readonly asOf: number | null } | undefined
): Allowance => {
  const { limit, windowMillis } = rateLimit
  const capacity = limit * windowMillis
  let missing = from?.missing ?? 0
  let asOf = from?.asOf ?? Number.NEGATIVE_INFINITY
  const refill = (now: number) => {
    if (now <= asOf) return
    missing = Math.max(0, missing - (now - asOf) * limit)
    asOf = now
  }
  const read = (now: number): Reading => {
    refill(now)
    const shortfall = missing + windowMillis - capacity
    return {
      granted: shortfall <= 0,
      limit,
      remaining: Math.floor((capacity - missing) / windowMillis),
      resetAt: now + Math.ceil(missing / limit),
      retryAt: now + Math.max(0, Math.ceil(shortfall / limit))
    }
  }
  return {
    rateLimit,
    state: () => ({ algorithm: "token-bucket", missing, asOf: orNull(asOf) }),
    peek: read,
    spend: (now) => {
      const before = read(now)
      if (!before.granted) return before
      missing += windowMillis
      return { ...read(now), granted: true }
    }
  }
}
