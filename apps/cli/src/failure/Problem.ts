/**
 * A failure of any kind in the form in which berth reports it: what happened, what to do next, and details for programs.
 */
import { Attempt } from "@berthkit/core/domain/Attempt"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import { fieldsOf } from "@berthkit/core/domain/ErrorReason"
import { exitCode } from "@berthkit/terminal/exitCode"
import { Schema } from "effect"
import type { SettingFault } from "@berthkit/terminal/Connection"
import type * as failures from "./CliFailure.ts"
import { hintOf, messageOf } from "./callInWords.ts"

/** The value of `error` in `-o json`. */
export interface Problem {
  /** The reason's name, such as `NodeNotFound`. */
  readonly code: string
  readonly message: string
  readonly hint: string
  /** The status of the last reply; null if there was none. */
  readonly httpStatus: number | null
  /** Whether the same command may succeed later, unchanged. */
  readonly retryable: boolean
  readonly details: Readonly<Record<string, unknown>>
}

type Failures = typeof failures

/** Every failure of a command, except that of a program that the command ran, because that program has reported its failure itself. */
type CliFailure = {
  [Name in keyof Failures]: Failures[Name] extends new (...facts: never) => infer Instance ? Instance : never
}[Exclude<keyof Failures, "ProgramEnded">]

/** A failure of a command. */
export type Failure = BerthError | SettingFault | CliFailure

/** Created at the first failure, because most runs have none. */
const encodeAttempts = (attempts: ReadonlyArray<Attempt>) =>
  Schema.encodeSync(Schema.toCodecJson(Schema.Array(Attempt)))(attempts)

/** The fields of a reason; the node has the same form in every failure. */
const detailsOfReason = (reason: BerthError["reason"]): Problem["details"] => {
  const { nodeId, ...fields }: Readonly<Record<string, unknown>> = fieldsOf(reason)
  return nodeId === undefined ? fields : { node: { id: nodeId, name: null }, ...fields }
}

const problemOfError = (error: BerthError): Problem => ({
  code: error.reason._tag,
  message: messageOf(error),
  hint: hintOf(error),
  httpStatus: error.attempts.at(-1)?.status ?? null,
  retryable: error.retryable,
  details: { operation: error.operation, ...detailsOfReason(error.reason), attempts: encodeAttempts(error.attempts) }
})

type Told = Pick<Problem, "message" | "hint" | "details">

/** A problem without a reply of the service. */
const problemHere = (code: string, { details, hint, message }: Told): Problem => ({
  code,
  message,
  hint,
  httpStatus: null,
  retryable: false,
  details
})

/** The failure as berth reports it. */
export const problemOf = (failure: Failure): Problem => {
  if (failure._tag === "BerthError") return problemOfError(failure)
  const { hint, message } = failure
  if ("error" in failure) {
    return { ...problemOfError(failure.error), message, hint }
  }
  const own = ("details" in failure ? failure.details : undefined) ?? {}
  const details = failure._tag === "SettingFault" ? { setting: failure.setting } : own
  const problem = problemHere(failure._tag, { message, hint, details })
  if (failure._tag !== "DaemonNotAsked") return problem
  return { ...problem, httpStatus: failure.httpStatus, retryable: failure.exit === "unavailable" }
}

/** The exit code for a failure. */
export const exitCodeOf = (failure: Failure): number => {
  const { exit } = failure._tag === "BerthError" ? failure.reason : failure
  return exitCode[exit]
}

/** The problem if the output cannot be written, which is not berth's fault. */
export const problemOfOutput = (failure: Told): Problem => problemHere("StdoutFailed", failure)

/** A defect of berth itself. */
export const problemOfDefect = (defect: unknown): Problem =>
  problemHere("Fault", {
    message: `berth failed: ${defect instanceof Error ? defect.message : String(defect)}`,
    hint: "This is a bug in berth; the same command with --debug shows where.",
    details: {}
  })
