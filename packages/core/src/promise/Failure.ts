/**
 * All errors of the client's promises as one union, and the errors that only promises have.
 */
import type { ErrorReason, FieldsOf } from "../domain/ErrorReason.ts"
import { BerthError, type Facts } from "./BerthError.ts"
import type { Plain } from "./Plain.ts"
import * as reasons from "./reasons.ts"
import type { Attempt } from "./Records.ts"

/** The fields of the reason with this tag, in plain form. */
type FieldsOfTag<Tag> = Plain<FieldsOf<Extract<ErrorReason, { readonly _tag: Tag }>>>

/** The class of each reason. Does not compile if a class, or a field of one, is missing. */
export const classes = reasons satisfies {
  readonly [Tag in ErrorReason["_tag"]]: new (facts: Facts) => BerthError & { readonly _tag: Tag } & FieldsOfTag<Tag>
}

/** An option or environment variable with which no client or call can be made. */
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
      hint: detail.includes('"~"')
        ? 'Write path.join(os.homedir(), "…") in place of "~/…".'
        : `Correct the named ${kind}.`,
      retryable: false
    }
    super({ operation, reason, attempts: [] })
    Object.assign(this, { option, detail })
  }
}

/** The client runs on a Node version that is too old. */
export class RuntimeTooOld extends BerthError {
  declare readonly _tag: "RuntimeTooOld"
  /** For example `20.20.2`. */
  declare readonly version: string
  constructor(operation: string, { message, version }: { readonly message: string; readonly version: string }) {
    const reason = {
      _tag: "RuntimeTooOld",
      message,
      hint: "Run the program with a newer Node.",
      retryable: false
    }
    super({ operation, reason, attempts: [] })
    Object.assign(this, { version })
  }
}

/** The known facts about a call that was abandoned. */
interface LetGo {
  readonly operation: string
  readonly changed: "no" | "maybe"
  readonly attempts: ReadonlyArray<Attempt>
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
      hint: changed === "no" ? "Create a new client; a closed client cannot be reopened." : afterLetGo(changed),
      retryable: false
    }
    super({ operation, reason, attempts })
    Object.assign(this, { changed })
  }
}

const afterLetGo = (changed: "no" | "maybe") =>
  changed === "no" ? "Nothing was changed." : "The request may have been carried out; check before sending it again."

/** The client itself failed, because of a bug in Berth or in the given `fetch`. */
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

/** Every error, discriminated by `_tag`, each with its own fields. */
export type Failure =
  | InstanceType<(typeof reasons)[keyof typeof reasons]>
  | InvalidOption
  | RuntimeTooOld
  | Aborted
  | ClientClosed
  | ClientFault

/** Whether a thrown value is an error of this client. `switch (error._tag)` then knows the fields. */
export const isBerthError = (error: unknown): error is Failure => error instanceof BerthError
