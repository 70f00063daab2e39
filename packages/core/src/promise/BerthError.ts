/**
 * What a promise of the client rejects with: one class for each reason, all of them `BerthError`s. The reasons, their
 * sentences and hints are the domain's (`domain/ErrorReason.ts`); those that only promises know are at the end.
 */
import type * as Domain from "../domain/BerthError.ts"
import type { Attempt as DomainAttempt } from "../domain/Attempt.ts"
import * as Reason from "../domain/ErrorReason.ts"
import { type Redact, redactedReason } from "../client/transport/Redaction.ts"
import { type Plain, plain } from "./Plain.ts"

/** One attempt of a call: when it was made, how long it waited, what came of it. */
export interface Attempt extends Plain<DomainAttempt> {}

/** The reply that a call failed with. Nothing in it holds a credential. */
export interface FailedReply {
  readonly status: number
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The beginning of the body. */
  readonly body: string
}

/** What every error is made from. */
interface Facts {
  readonly reason: {
    readonly _tag: string
    readonly message: string
    readonly hint: string
    readonly retryable: boolean
  }
  readonly operation: string
  readonly attempts: ReadonlyArray<DomainAttempt>
  readonly reply?: Domain.BerthError["reply"]
  /** Default: that of the reason. */
  readonly hint?: string
}

const asItIs = (text: string) => text

/**
 * A failed call. `_tag` names the reason, and so does the class: `error instanceof NodeNotFound`. No error holds a
 * credential, a request or the error of a transport.
 */
export abstract class BerthError extends Error {
  /** Name of the reason, such as `NodeNotFound`. */
  readonly _tag: string
  /** Such as `nodes.get`. */
  readonly operation: string
  /** One sentence: what to do next. `message` says what happened. */
  readonly hint: string
  /** Whether the same call may succeed later, unchanged. */
  readonly retryable: boolean
  /** What was tried, oldest first. */
  readonly attempts: ReadonlyArray<Attempt>
  /** HTTP status of the reply that the call failed with; null when it failed without one. */
  readonly status: number | null
  /** What the service calls the request, for its support; null when it does not say. */
  readonly requestId: string | null
  /** That reply, its body up to a length; null when the call failed without one. */
  readonly response: FailedReply | null

  constructor({ attempts, operation, reason, reply = null, hint = reason.hint }: Facts, options?: ErrorOptions) {
    super(reason.message, options)
    this._tag = reason._tag
    this.operation = operation
    this.status = reply === null ? null : reply.status
    this.requestId = reply === null ? null : reply.requestId
    this.response = reply === null ? null : { status: reply.status, headers: reply.headers, body: reply.excerpt }
    this.hint = hint
    this.retryable = reason.retryable
    this.attempts = plain(attempts, asItIs)
    Object.defineProperty(this, "name", { value: reason._tag, configurable: true, writable: true })
    Object.assign(this, plain(Reason.fieldsOf(reason as Reason.ErrorReason), asItIs))
  }

  /** Everything but the stack and the cause. */
  toJSON(): Record<string, unknown> {
    return { ...(this as object), message: this.message }
  }
}

/** `BerthError` itself, with the tag and the fields of a reason in its type. */
type WithFields = <R extends Reason.ErrorReason>(
  reason: new (fields: never) => R
) => new (facts: Facts) => BerthError & { readonly _tag: R["_tag"] } & Plain<Reason.FieldsOf<R>>
const failure = (() => BerthError) as unknown as WithFields

/** 401: the API key or the access token is missing or wrong. */
export class Unauthorized extends failure(Reason.Unauthorized) {}
/** 403: the credentials are known, but not allowed to do this. */
export class Forbidden extends failure(Reason.Forbidden) {}
/** 404 where a node was named. */
export class NodeNotFound extends failure(Reason.NodeNotFound) {}
/** 404 where no node was named. */
export class PathNotFound extends failure(Reason.PathNotFound) {}
/** The request was refused, by the service or, with a `status` of null, before it was sent. */
export class InvalidRequest extends failure(Reason.InvalidRequest) {}
/** 409 or 423: the state of the resource forbids it. */
export class Conflict extends failure(Reason.Conflict) {}
/** 412: something else has to be so first. */
export class PreconditionFailed extends failure(Reason.PreconditionFailed) {}
/** 429: the allowance is spent. */
export class RateLimited extends failure(Reason.RateLimited) {}
/** The allowance refills only after the deadline: it was not sent. */
export class WouldExceedDeadline extends failure(Reason.WouldExceedDeadline) {}
/** 408, 502, 503 or 504: the service cannot answer at the moment. */
export class ServiceUnavailable extends failure(Reason.ServiceUnavailable) {}
/** Any other 5xx: the service failed. */
export class ServiceFault extends failure(Reason.ServiceFault) {}
/** No reply came: the connection could not be made, or broke. */
export class Unreachable extends failure(Reason.Unreachable) {}
/** The time ran out: of one attempt, or of the whole call. */
export class TimedOut extends failure(Reason.TimedOut) {}
/** A wait ended without the node reaching the status. */
export class StatusNotReached extends failure(Reason.StatusNotReached) {}
/** The service failed too often in a row, and is left alone for a while. */
export class CircuitOpen extends failure(Reason.CircuitOpen) {}
/** A create whose reply was lost, and of which it cannot be said whether it made a node. */
export class OutcomeUnknown extends failure(Reason.OutcomeUnknown) {}
/** A reply that cannot be understood. */
export class UnexpectedResponse extends failure(Reason.UnexpectedResponse) {}

const classes = {
  Unauthorized,
  Forbidden,
  NodeNotFound,
  PathNotFound,
  InvalidRequest,
  Conflict,
  PreconditionFailed,
  RateLimited,
  WouldExceedDeadline,
  ServiceUnavailable,
  ServiceFault,
  Unreachable,
  TimedOut,
  StatusNotReached,
  CircuitOpen,
  OutcomeUnknown,
  UnexpectedResponse
} satisfies { readonly [Tag in Reason.ErrorReason["_tag"]]: new (facts: Facts) => BerthError & { readonly _tag: Tag } }

/** The error of the domain as an error of the promise client. */
export const fromDomain = (
  { attempts, hint, operation, reason, reply }: Domain.BerthError,
  redact: Redact
): BerthError =>
  // Credentials may also stand in what the caller asked for.
  new classes[reason._tag]({ reason: redactedReason(reason, redact), operation, attempts, reply, hint })

/** An option, or a variable of the environment, that no client can be made with, or no call be made with. */
export class InvalidOption extends BerthError {
  declare readonly _tag: "InvalidOption"
  /** Name of the option or variable, such as `baseUrl`. */
  declare readonly option: string
  declare readonly detail: string
  constructor(operation: string, option: string, detail: string) {
    const kind = /^[A-Z]/.test(option) ? "variable" : "option"
    const reason = {
      _tag: "InvalidOption",
      message: `The ${kind} ${option} is not usable: ${detail}.`,
      hint: `Correct the named ${kind}.`,
      retryable: false
    }
    super({ operation, reason, attempts: [] })
    Object.assign(this, { option, detail })
  }
}

/** What is known of a call that was let go of before it ended. */
interface LetGo {
  readonly operation: string
  readonly changed: "no" | "maybe"
  readonly attempts: ReadonlyArray<DomainAttempt>
}

/**
 * The signal ended the call. As with `fetch` its `name` is `AbortError`, and the signal's reason is its `cause`. Its
 * `attempts` are those of the request that was under way.
 */
export class Aborted extends BerthError {
  declare readonly _tag: "Aborted"
  /** Whether the call may have changed something in the account; `no` is certain. */
  declare readonly changed: "no" | "maybe"
  constructor({ attempts, changed, operation }: LetGo, cause: unknown) {
    const reason = {
      _tag: "Aborted",
      message: "The call was aborted by its signal.",
      hint: afterLetGo(changed),
      retryable: true
    }
    super({ operation, reason, attempts }, { cause })
    Object.defineProperty(this, "name", { value: "AbortError", configurable: true, writable: true })
    Object.assign(this, { changed })
  }
}

/** The client was closed, before the call or during it. */
export class ClientClosed extends BerthError {
  declare readonly _tag: "ClientClosed"
  /** Whether the call may have changed something in the account; `no` is certain. */
  declare readonly changed: "no" | "maybe"
  constructor({ attempts, changed, operation }: LetGo) {
    const reason = {
      _tag: "ClientClosed",
      message: "The client is closed.",
      hint: changed === "no" ? "Make another client; a closed one stays closed." : afterLetGo(changed),
      retryable: false
    }
    super({ operation, reason, attempts })
    Object.assign(this, { changed })
  }
}

const afterLetGo = (changed: "no" | "maybe") =>
  changed === "no" ? "Nothing was changed." : "The request may have been carried out; look before sending it again."

/** The client itself failed: a fault of Berth or of the `fetch` it was given. */
export class ClientFault extends BerthError {
  declare readonly _tag: "ClientFault"
  declare readonly detail: string
  constructor(operation: string, detail: string) {
    const reason = {
      _tag: "ClientFault",
      message: `The client failed: ${detail}.`,
      hint: "This should not happen; report it with the operation and this sentence.",
      retryable: false
    }
    super({ operation, reason, attempts: [] })
    Object.assign(this, { detail })
  }
}

/** Every error there is, to be told apart by `_tag`, each with its own fields. */
export type Failure =
  | InstanceType<(typeof classes)[keyof typeof classes]>
  | InvalidOption
  | Aborted
  | ClientClosed
  | ClientFault

/** Whether something that was thrown is an error of this client. `switch (error._tag)` then knows the fields of each. */
export const isBerthError = (error: unknown): error is Failure => error instanceof BerthError
