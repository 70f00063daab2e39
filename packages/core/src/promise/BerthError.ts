/**
 * The errors of the client's promises: one class per reason, all of them `BerthError`s. The reasons with their
 * sentences and hints are the domain's (`domain/ErrorReason.ts`); `reasons.ts` has their classes, and `Failure.ts`
 * those of errors that only promises have. These three files import only types from others, so a page that only checks
 * errors loads nothing of the client.
 */
import type { FailedReply as DomainFailedReply } from "../domain/FailedReply.ts"
import type { Attempt } from "./Records.ts"

/** The reply of a failed call. It contains no credentials. */
export interface FailedReply {
  readonly status: number
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The beginning of the body. */
  readonly body: string
}

/** The parts of an error. */
export interface Facts {
  readonly reason: {
    readonly _tag: string
    readonly message: string
    readonly hint: string
    readonly retryable: boolean
  }
  /** The fields of the reason in plain form. Default: none. */
  readonly fields?: object
  readonly operation: string
  readonly attempts: ReadonlyArray<Attempt>
  readonly reply?: DomainFailedReply | null
  /** Default: the reason's. */
  readonly hint?: string
  /** The underlying error, without credentials. Default: none. */
  readonly cause?: unknown
}

/**
 * A failed call. Both `_tag` and the class name the reason: `error instanceof NodeNotFound`. No error contains a credential or a request.
 * If the transport failed, a masked copy of its error is the `cause`.
 */
export abstract class BerthError extends Error {
  /** Name of the reason, such as `NodeNotFound`. */
  readonly _tag: string
  /** For example `nodes.get`. */
  readonly operation: string
  /** What to do next, in one sentence. `message` says what happened. */
  readonly hint: string
  /** Whether the same call may succeed later, unchanged. */
  readonly retryable: boolean
  /** The attempts, oldest first. */
  readonly attempts: ReadonlyArray<Attempt>
  /** HTTP status of the reply; null if the call failed without a reply. */
  readonly status: number | null
  /** The service's id of the request, which the service's support needs; null if there is none. */
  readonly requestId: string | null
  /** The reply, with an excerpt of its body; null if the call failed without a reply. */
  readonly response: FailedReply | null

  constructor(
    { attempts, cause, fields, operation, reason, reply = null, hint = reason.hint }: Facts,
    options: ErrorOptions | undefined = cause === undefined ? undefined : { cause }
  ) {
    super(reason.message, options)
    this._tag = reason._tag
    this.operation = operation
    this.status = reply === null ? null : reply.status
    this.requestId = reply === null ? null : reply.requestId
    this.response = reply === null ? null : { status: reply.status, headers: reply.headers, body: reply.excerpt }
    this.hint = hint
    this.retryable = reason.retryable
    this.attempts = attempts
    Object.defineProperty(this, "name", { value: reason._tag, configurable: true, writable: true })
    Object.assign(this, fields)
  }

  /** Everything except the stack and the cause. */
  toJSON(): Record<string, unknown> {
    return { ...(this as object), message: this.message }
  }
}
