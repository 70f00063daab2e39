/**
 * A command that could not do what was asked: its exit code, and what to tell the person who asked.
 */
import { Data } from "effect"
import type { BerthError } from "@berth/core/domain/BerthError"

/** Exit codes: those of `berth` that a daemon can come to, for the same reasons. */
export const exitCodes = {
  done: 0,
  fault: 1,
  usage: 2,
  refused: 3,
  notFound: 4,
  rejected: 5,
  exhausted: 6,
  unreachable: 7,
  outcomeUnknown: 8,
  interrupted: 130
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  readonly code: ExitCode
  /** One sentence: what happened. */
  readonly message: string
  /** One sentence: what to do next. */
  readonly hint?: string | undefined
}> {}

/** A part of the credentials is missing or cannot be used, which is a matter of authentication. */
export const unauthenticated = (message: string, hint: string): CommandFailed =>
  new CommandFailed({ code: exitCodes.refused, message, hint })

/** The command line or a setting is wrong. */
export const usage = (message: string, hint?: string): CommandFailed =>
  new CommandFailed({ code: exitCodes.usage, message, hint })

const codeFor = ({ reason }: BerthError): ExitCode => {
  switch (reason._tag) {
    case "Unauthorized":
    case "Forbidden":
      return exitCodes.refused
    case "NodeNotFound":
    case "PathNotFound":
      return exitCodes.notFound
    case "InvalidRequest":
    case "Conflict":
    case "PreconditionFailed":
      return exitCodes.rejected
    case "RateLimited":
    case "WouldExceedDeadline":
      return exitCodes.exhausted
    case "ServiceUnavailable":
    case "ServiceFault":
    case "Unreachable":
    case "TimedOut":
    case "CircuitOpen":
    case "UnexpectedResponse":
      return exitCodes.unreachable
    case "OutcomeUnknown":
      return exitCodes.outcomeUnknown
    case "StatusNotReached":
      return reason.impossible ? exitCodes.rejected : exitCodes.unreachable
  }
}

/** A call failed, and the command with it. */
export const fromBerthError = (error: BerthError): CommandFailed =>
  new CommandFailed({ code: codeFor(error), message: error.message, hint: error.hint })
