/**
 * The three kinds of window a service may count by (A22), written as plainly as possible, to test the
 * estimator against. Instants are milliseconds on the service's clock.
 */
interface Reading {
  readonly granted: boolean
  readonly remaining: number
  readonly resetAt: number
  /** When the next request would be granted. */
  readonly retryAt: number
}

export type Window = (now: number) => Reading

export type Kind = "fixed" | "sliding" | "bucket"
export const kinds: ReadonlyArray<Kind> = ["fixed", "sliding", "bucket"]

/** A window begins with the first request after the last one ended. */
const fixed = (limit: number, length: number): Window => {
  let end = Number.NEGATIVE_INFINITY
  let used = 0
  return (now) => {
    if (now >= end) {
      end = now + length
      used = 0
    }
    const granted = used < limit
    if (granted) used++
    return { granted, remaining: limit - used, resetAt: end, retryAt: end }
  }
}

/** Every request counts for `length` from when it was granted. */
const sliding = (limit: number, length: number): Window => {
  const grants: Array<number> = []
  return (now) => {
    while (grants.length > 0 && grants[0]! + length <= now) grants.shift()
    const granted = grants.length < limit
    if (granted) grants.push(now)
    const resetAt = grants[0]! + length
    return { granted, remaining: limit - grants.length, resetAt, retryAt: resetAt }
  }
}

/** At most `limit` tokens, which refill evenly over `length`. */
const bucket = (limit: number, length: number): Window => {
  let tokens = limit
  let asOf = Number.NEGATIVE_INFINITY
  return (now) => {
    tokens = asOf === Number.NEGATIVE_INFINITY ? limit : Math.min(limit, tokens + ((now - asOf) * limit) / length)
    asOf = now
    const granted = tokens >= 1
    if (granted) tokens--
    const perToken = length / limit
    const resetAt = now + (limit - tokens) * perToken
    return { granted, remaining: Math.floor(tokens), resetAt, retryAt: now + Math.max(0, 1 - tokens) * perToken }
  }
}

export const makeWindow: Record<Kind, (limit: number, length: number) => Window> = { fixed, sliding, bucket }
