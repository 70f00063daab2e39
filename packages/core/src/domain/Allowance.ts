/**
 * The allowance: how many requests the service still grants (interface.md §8). `client/allowance/` keeps the client within it.
 */
import { Schema } from "effect"

/** The allowance in a reply. */
export const Allowance = Schema.Struct({
  /** Requests granted per window, of any kind. */
  limit: Schema.Int,
  /** Requests left. */
  remaining: Schema.Int,
  /** When it refills, on the service's clock. */
  resetAt: Schema.NullOr(Schema.DateTimeUtc)
}).annotate({ identifier: "Allowance" })
export interface Allowance extends Schema.Schema.Type<typeof Allowance> {}

/** The estimate of the allowance at one time. */
export const KnownAllowance = /*#__PURE__*/ Schema.Struct({
  /** Requests granted per window; null until a reply reports it. */
  limit: Schema.NullOr(Schema.Int),
  /**
   * Length of the window. Null until a refill has shown it, or a reset that is more than an hour away; until then, an hour is assumed.
   */
  windowMillis: Schema.NullOr(Schema.Number),
  /** Requests left: the number in the newest reply, less those sent since. Null until a reply reports it. */
  remaining: Schema.NullOr(Schema.Int),
  /**
   * How many of the last requests are kept for interactive reads: if no more than this many are left, a change waits for the refill. Null
   * until a reply reports the allowance.
   */
  keptForReads: Schema.NullOr(Schema.Int),
  /** Time until the stated reset, by the service's clock; 0 when it is due. Null until a reply reports it. */
  resetInMillis: Schema.NullOr(Schema.Number),
  /** Time during which nothing is sent, because the service rejected a request over the rate limit; otherwise 0. */
  pausedMillis: Schema.Number,
  /** Requests sent and not yet answered. */
  underWay: Schema.Int,
  /** Requests that wait for the rate limit. */
  waiting: Schema.Int
}).annotate({ identifier: "KnownAllowance" })
export interface KnownAllowance extends Schema.Schema.Type<typeof KnownAllowance> {}
