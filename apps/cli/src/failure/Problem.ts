/**
 * A failure of any kind as berth reports it: what happened, what to do next, and what a program needs to know.
 */
import { Attempt } from "@berthkit/core/domain/Attempt"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import { fieldsOf } from "@berthkit/core/domain/ErrorReason"
import { exitCode } from "@berthkit/terminal/exitCode"
import { Schema } from "effect"
import type { SettingFault } from "@berthkit/terminal/Connection"
import type * as failures from "./CliFailure.ts"
import { hintOf, messageOf } from "./callInWords.ts"

/** What `-o json` prints under `error`. */
export interface Problem {
  /** Name of the reason, such as `NodeNotFound`. */
  readonly code: string
  readonly message: string
  readonly hint: string
  /** The status of the last reply; null when there was none. */
  readonly httpStatus: number | null
  /** Whether the same command may succeed later, unchanged. */
  readonly retryable: boolean
  readonly details: Readonly<Record<string, unknown>>
}

type Failures = typeof failures

/** Every failure of a command but that of a program that it ran, which is reported already. */
type CliFailure = {
  [Name in keyof Failures]: Failures[Name] extends new (...facts: never) => infer Instance ? Instance : never
}[Exclude<keyof Failures, "ProgramEnded">]

/** A failure of a command. */
export type Failure = BerthError | SettingFault | CliFailure

/** Made for the first failure: most runs have none. */
const encodeAttempts = (attempts: ReadonlyArray<Attempt>) =>
  Schema.encodeSync(Schema.toCodecJson(Schema.Array(Attempt)))(attempts)

/** What a reason declares; the node that it is about stands in one form for every failure. */
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

/** One that no reply of the service is the reason of. */
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

/** What a command that fails with it exits with. */
export const exitCodeOf = (failure: Failure): number => {
  const { exit } = failure._tag === "BerthError" ? failure.reason : failure
  return exitCode[exit]
}

/** Data that cannot be written: no fault of berth. */
export const problemOfOutput = (failure: Told): Problem => problemHere("StdoutFailed", failure)

/** A defect: a fault of berth itself. */
export const problemOfDefect = (defect: unknown): Problem =>
  problemHere("Fault", {
    message: `berth failed: ${defect instanceof Error ? defect.message : String(defect)}`,
    hint: "This is a bug in berth; the same command with --debug shows where.",
    details: {}
  })
