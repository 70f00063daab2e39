/**
 * The one error of every call: which operation failed, for which reason, and the ledger of its attempts.
 */
import { Data } from "effect"
import type { Attempt } from "./Attempt.ts"
import type { ErrorReason } from "./ErrorReason.ts"
import type { FailedReply } from "./FailedReply.ts"

/** A failed call. Take it apart with `Effect.catchReason("BerthError", "NodeNotFound", …)`. */
export class BerthError extends Data.TaggedError("BerthError")<{
  /** For example `nodes.get`. */
  readonly operation: string
  readonly reason: ErrorReason
  /** Oldest first. */
  readonly attempts: ReadonlyArray<Attempt>
  /** The reply to the last attempt that had one; null if none had. */
  readonly reply: FailedReply | null
}> {
  constructor(fields: {
    readonly operation: string
    readonly reason: ErrorReason
    readonly attempts: ReadonlyArray<Attempt>
    /** Default: none. */
    readonly reply?: FailedReply | null
  }) {
    super({ reply: null, ...fields })
    const { cause } = fields.reason
    if (cause !== undefined) Object.defineProperty(this, "cause", { value: cause, configurable: true, writable: true })
  }
  /** One sentence that says what happened, and to which node or field. */
  override get message(): string {
    return this.reason.message
  }
  /** What to do next, in one sentence. If the service is at fault, the hint includes the request id, which the service's support needs. */
  get hint(): string {
    const { hint, _tag } = this.reason
    const id = this.reply?.requestId
    return id && (_tag === "ServiceFault" || _tag === "ServiceUnavailable" || _tag === "UnexpectedResponse")
      ? `${hint} Request id: ${id}.`
      : hint
  }
  /** Whether the same call may succeed later, unchanged. */
  get retryable(): boolean {
    return this.reason.retryable
  }
}
