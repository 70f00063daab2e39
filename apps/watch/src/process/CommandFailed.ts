/** Why a command failed: its exit code, and the sentences for the user. */
import { isAboutPlace, placeHint } from "@berthkit/terminal/placeHint"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Exit } from "@berthkit/terminal/exitCode"
import { Data, Effect } from "effect"
import type { StreamClosed } from "../deliver/Stdout.ts"
import type { StoreFailed, StoreFault } from "../store/StoreFailed.ts"

export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  /** Name of the exit code. */
  readonly exit: Exit
  /** One sentence: what happened. */
  readonly message: string
  /** One sentence: what to do next. */
  readonly hint?: string | undefined
}> {}

/** The command makes no sense in this form. */
export const misused = (message: string, hint?: string): CommandFailed =>
  new CommandFailed({ exit: "usage", message, hint })

/** A call failed, and the command with it. */
export const fromBerthError = ({ hint, message, reason }: BerthError): CommandFailed =>
  new CommandFailed({
    exit: reason.exit,
    message,
    hint: "detail" in reason && isAboutPlace(reason.detail) ? placeHint : hint
  })

/** Faults of the store that the user has not caused. The exit code says so. */
const broken: ReadonlySet<StoreFault> = new Set(["full", "damaged", "busy", "lost", "repeated", "statement"])

export const fromStoreFailed = ({ fault, hint, message }: StoreFailed): CommandFailed =>
  new CommandFailed({ exit: broken.has(fault) ? "fault" : "usage", message, hint })

/** Codes that mean only that the reader has gone. */
const readerGone: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED"])

/** If the reader has gone, the program ends silently; any other code is a failure. */
export const endedBy = (closed: StreamClosed): Effect.Effect<void, CommandFailed> =>
  readerGone.has(closed.code) ? Effect.void : Effect.fail(new CommandFailed({ exit: "fault", message: closed.message }))
