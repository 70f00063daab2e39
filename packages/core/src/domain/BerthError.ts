/**
 * The one error of every call: which operation failed, for which reason, and the ledger of its attempts.
 */
import { Data } from "effect"
import type { Attempt } from "./Attempt.ts"
import type { ErrorReason } from "./ErrorReason.ts"

/** A failed call. Take it apart with `Effect.catchReason("BerthError", "NodeNotFound", …)`. */
export class BerthError extends Data.TaggedError("BerthError")<{
  /** Such as `nodes.get`. */
  readonly operation: string
  readonly reason: ErrorReason
  /** What was tried, oldest first. */
  readonly attempts: ReadonlyArray<Attempt>
  readonly reply?: {
    readonly status: number
    readonly requestId: string | null
    readonly headers: Readonly<Record<string, string | undefined>>
    readonly excerpt: string
  } | null
}> {
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
