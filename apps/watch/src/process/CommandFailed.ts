/**
 * Why a command ends without its result: its exit code, and the sentences for the user.
 */
import type { BerthError } from "@berth/core/domain/BerthError"
import type { Exit } from "@berth/terminal/exitCode"
import { Data } from "effect"

export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  /** Name of the exit code. */
  readonly exit: Exit
  /** One sentence: what happened. */
  readonly message: string
  /** One sentence: what to do next. */
  readonly hint?: string | undefined
}> {}

/** A call failed, and the command with it. */
export const fromBerthError = ({ hint, message, reason }: BerthError): CommandFailed =>
  new CommandFailed({ exit: reason.exit, message, hint })
