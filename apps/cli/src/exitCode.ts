/**
 * What the exit code of `berth` says. The numbers are frozen: scripts rely on them.
 */
import type { BerthError } from "@berth/core/domain/BerthError"
import type { CliFailure } from "./failure/CliFailure.ts"

export const exitCode = {
  done: 0,
  /** A fault of berth itself. */
  fault: 1,
  /** The command line, or a setting it needs. */
  usage: 2,
  /** Not authenticated, or not allowed. */
  denied: 3,
  notFound: 4,
  /** Understood and refused: invalid, or in conflict with the present state. */
  rejected: 5,
  /** The allowance is spent, or the wait for it would outlast the deadline. */
  allowance: 6,
  /** Unreachable, out of time, or the service failed. */
  unavailable: 7,
  /** A create whose reply was lost, and of which it could not be settled what came. */
  outcomeUnknown: 8,
  /** Some of several failed. */
  someFailed: 9,
  interrupted: 130
} as const

const ofReason = (reason: BerthError["reason"]): number => {
  switch (reason._tag) {
    case "Unauthorized":
    case "Forbidden":
      return exitCode.denied
    case "NodeNotFound":
    case "PathNotFound":
      return exitCode.notFound
    case "InvalidRequest":
    case "Conflict":
    case "PreconditionFailed":
      return exitCode.rejected
    case "RateLimited":
    case "WouldExceedDeadline":
      return exitCode.allowance
    case "ServiceUnavailable":
    case "ServiceFault":
    case "Unreachable":
    case "TimedOut":
    case "UnexpectedResponse":
    case "CircuitOpen":
      return exitCode.unavailable
    case "OutcomeUnknown":
      return exitCode.outcomeUnknown
    // Out of time is as with any other wait; a status that cannot come is the state's refusal.
    case "StatusNotReached":
      return reason.impossible ? exitCode.rejected : exitCode.unavailable
  }
}

/** The exit code of a failure. */
export const exitCodeOf = (failure: BerthError | CliFailure): number => {
  switch (failure._tag) {
    case "BerthError":
      return ofReason(failure.reason)
    case "UsageFault":
    case "NameAmbiguous":
      return exitCode.usage
    case "SettingFault":
      return failure.secret ? exitCode.denied : exitCode.usage
    case "NameNotFound":
      return exitCode.notFound
    case "SomeFailed":
      return exitCode.someFailed
    case "Interrupted":
      return exitCode.interrupted
  }
}
