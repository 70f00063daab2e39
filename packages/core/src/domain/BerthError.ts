/**
 * The one error of every call: which operation failed, for which reason, and the ledger of its attempts.
 */
import { Schema } from "effect"
import { Attempt } from "./Attempt.ts"
import { ErrorReason } from "./ErrorReason.ts"

/** A failed call. Take it apart with `Effect.catchReason("BerthError", "NodeNotFound", …)`. */
export class BerthError extends Schema.TaggedError<BerthError>()("BerthError", {
  /** Such as `nodes.get`. */
  operation: Schema.String,
  reason: ErrorReason,
  /** What was tried, oldest first. */
  attempts: Schema.Array(Attempt)
}) {
  /** One sentence: what happened, with which node or field. */
  override get message(): string {
    return this.reason.message
  }
  /** One sentence: what to do next. */
  get hint(): string {
    return this.reason.hint
  }
  /** Whether the same call may succeed later, unchanged. */
  get retryable(): boolean {
    return this.reason.retryable
  }
}
