/**
 * How a run ends: every failure is told once, in the format that was asked for, and becomes the exit code.
 */
import type { BerthError } from "@berth/core/domain/BerthError"
import { Cause, Effect, Option } from "effect"
import { CliError } from "effect/cli"
import { exitCode, exitCodeOf } from "./exitCode.ts"
import type { CliFailure } from "./failure/CliFailure.ts"
import { type Problem, problemOf, problemOfDefect } from "./failure/Problem.ts"
import { usageFault } from "./failure/usageFault.ts"
import { say } from "./output/Output.ts"
import { requestedFormat } from "./output/OutputFormat.ts"
import { report } from "./output/report.ts"

interface Ending {
  readonly code: number
  readonly problem: Option.Option<Problem>
}

const endingOf = (failure: BerthError | CliFailure | CliError.CliError): Ending => {
  if (!CliError.isCliError(failure)) return { code: exitCodeOf(failure), problem: Option.some(problemOf(failure)) }
  const help = failure._tag === "ShowHelp"
  const path = help ? failure.commandPath : ["berth"]
  if (help && failure.errors.length === 0 && path.length === 1) return { code: exitCode.done, problem: Option.none() }
  return {
    code: exitCode.usage,
    problem: Option.some(problemOf(usageFault(path, help ? failure.errors : [failure])))
  }
}

/** Ends a run of these arguments with its exit code. An interruption is left to whoever runs it. */
export const settle =
  (args: ReadonlyArray<string>) =>
  <R>(run: Effect.Effect<void, BerthError | CliFailure | CliError.CliError, R>) =>
    run.pipe(
      Effect.as<number>(exitCode.done),
      Effect.catchCause((cause) =>
        Effect.gen(function* () {
          if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
          const failure = Cause.findErrorOption(cause)
          const { code, problem } = Option.match(failure, {
            onSome: endingOf,
            onNone: (): Ending => ({ code: exitCode.fault, problem: Option.some(problemOfDefect(Cause.squash(cause))) })
          })
          if (Option.isSome(problem)) yield* report(problem.value, requestedFormat(args))
          if (Option.isNone(failure) && args.includes("--debug")) yield* say(Cause.pretty(cause))
          return code
        })
      )
    )
