/**
 * One attempt of a call, as the ledger of a `BerthError` keeps it: what was sent, when, and how it ended.
 */
import { Schema } from "effect"
import { Allowance } from "./Allowance.ts"

/** One attempt. Times are in milliseconds. No field contains a credential. */
export const Attempt = Schema.Struct({
  /** 1 for the first attempt of the call. */
  number: Schema.Int,
  /** When the attempt started, counted from the beginning of the call. */
  startedAtMillis: Schema.Number,
  /** The wait before this attempt because the previous one failed. */
  backoffMillis: Schema.Number,
  /** The wait for the rate limit. */
  queuedMillis: Schema.Number,
  /** The time from sending the request until the reply was read. */
  durationMillis: Schema.Number,
  /** HTTP status; null without a reply. */
  status: Schema.NullOr(Schema.Int),
  /** `ok`, the tag of the failure's reason, `interrupted`, or `defect`. */
  outcome: Schema.String,
  /** The allowance that the reply reports. */
  allowance: Schema.NullOr(Allowance)
}).annotate({ identifier: "Attempt" })
export interface Attempt extends Schema.Schema.Type<typeof Attempt> {}
