/**
 * Makes the reason for a request without a reply from the error that was thrown.
 */
import { Predicate } from "effect"
import { Unreachable } from "../../domain/ErrorReason.ts"
import { connectionFault } from "./connectionFault.ts"
import { withoutUser } from "./Redaction.ts"

const maxDetailLength = 1000

/** Describes an error by its innermost code and message, because errors may be nested. */
const describe = (cause: unknown) => {
  let code: string | undefined
  let syscall: unknown
  let text = "the connection failed"
  for (let at: unknown = cause, depth = 0; Predicate.isObjectOrArray(at) && depth < 8; depth++) {
    const inner = at as { code?: unknown; message?: unknown; cause?: unknown; errors?: unknown; syscall?: unknown }
    if (Predicate.isString(inner.code)) code = inner.code
    syscall = inner.syscall ?? syscall
    if (Predicate.isString(inner.message) && inner.message !== "") text = inner.message
    at = inner.cause ?? (Array.isArray(inner.errors) ? inner.errors[0] : undefined)
  }
  const meant = connectionFault({ code, syscall, text })
  const shown = withoutUser(meant.text.replace(/\s+/g, " ").slice(0, maxDetailLength))
  const detail = meant.code !== undefined && !shown.includes(meant.code) ? `${shown} (${meant.code})` : shown
  return { code, detail, fault: meant.fault, unsent: meant.unsent }
}

/** The reason for a failure below HTTP. `replied` says whether a reply had begun. */
export const unreachable = (cause: unknown, replied: boolean): Unreachable => {
  const { detail, fault, unsent } = describe(cause)
  return new Unreachable({ sent: replied ? "yes" : unsent ? "no" : "maybe", detail, fault, cause })
}

/** The reason for a failure before anything was sent. */
export const unreached = (cause: unknown): Unreachable => {
  const { detail, fault } = describe(cause)
  return new Unreachable({ sent: "no", detail, fault, cause })
}

/** Errors that JavaScript throws for a mistake in a program. */
const mistakes = /^(?:Type|Reference|Range|Syntax|URI)Error$/

/** Words in the `TypeError` with which the `fetch` of runtimes and browsers reports that the network failed. */
const networkWords = /fetch|load failed|network|request|terminated|connect|socket|time|abort/i

/**
 * Like `unreachable`, for a `fetch` that the program provides. An error without a code counts as a bug of that `fetch`
 * if it is thrown at once, or if it is a programming mistake that has no cause and does not mention the network.
 * Whether the request was sent remains unknown.
 */
export const unreachableBy = (cause: unknown, replied: boolean, isAtOnce: boolean): Unreachable => {
  const reason = unreachable(cause, replied)
  const { code } = describe(cause)
  const isMistake =
    cause instanceof Error &&
    cause.cause === undefined &&
    mistakes.test(cause.name) &&
    !networkWords.test(cause.message)
  return code === undefined && (isAtOnce || isMistake)
    ? new Unreachable({ sent: reason.sent, detail: reason.detail, fault: "fetch", cause })
    : reason
}
