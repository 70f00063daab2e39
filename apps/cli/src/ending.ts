/**
 * How a run ends: a failure is reported once, in the format that was asked for, and becomes the exit code.
 */
import { escapeControlsInLines } from "@berth/terminal/escapeControls"
import { exitCode } from "@berth/terminal/exitCode"
import { usageProblem } from "@berth/terminal/usage"
import { Cause, Effect, Option } from "effect"
import { CliError } from "effect/cli"
import { type ProgramEnded, UsageFault } from "./failure/CliFailure.ts"
import { type Failure, type Problem, problemOf, problemOfDefect } from "./failure/Problem.ts"
import { Output } from "./output/Output.ts"
import { requestedFormat } from "./output/OutputFormat.ts"
import { reportProblem } from "./output/reportProblem.ts"

interface Ending {
  readonly code: number
  readonly problem: Option.Option<Problem>
}

/** `berth` alone asks for help, which is printed already. */
const isHelp = (error: CliError.CliError): boolean =>
  error._tag === "ShowHelp" && error.errors.length === 0 && error.commandPath.length === 1

const endingOf = (failure: Failure | CliError.CliError): Ending => {
  if (CliError.isCliError(failure)) {
    return isHelp(failure)
      ? { code: exitCode.done, problem: Option.none() }
      : endingOf(new UsageFault(usageProblem("berth", failure)))
  }
  const { exit } = failure._tag === "BerthError" ? failure.reason : failure
  return { code: exitCode[exit], problem: Option.some(problemOf(failure)) }
}

/** Ends a run of these arguments with its exit code. The caller handles an interruption. */
export const withExitCode =
  (args: ReadonlyArray<string>) =>
  <R>(run: Effect.Effect<void, Failure | ProgramEnded | CliError.CliError, R>) =>
    run.pipe(
      Effect.as<number>(exitCode.done),
      Effect.catchTag("ProgramEnded", ({ code }) => Effect.succeed(code)),
      Effect.catchCause((cause) =>
        Effect.gen(function* () {
          if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
          const failure = Cause.findErrorOption(cause)
          const { code, problem } = Option.match(failure, {
            onSome: endingOf,
            onNone: (): Ending => ({ code: exitCode.fault, problem: Option.some(problemOfDefect(Cause.squash(cause))) })
          })
          if (Option.isSome(problem)) yield* reportProblem(problem.value, requestedFormat(args))
          if (Option.isNone(failure) && args.includes("--debug"))
            yield* Output.use(({ note }) => note(escapeControlsInLines(Cause.pretty(cause))))
          return code
        })
      )
    )
