/**
 * How a run ends: a failure is reported once, in the format that was asked for, and becomes the exit code.
 */
import { exitCode } from "@berthkit/terminal/exitCode"
import { Cause, Effect, Option } from "effect"
import type { ProgramEnded } from "./failure/CliFailure.ts"
import { type Failure, type Problem, problemOf, problemOfDefect, problemOfOutput } from "./failure/Problem.ts"
import { printDebug, StdoutFailed } from "./output/Output.ts"
import type { Format } from "./output/OutputFormat.ts"
import { reportProblem } from "./output/reportProblem.ts"

interface Ending {
  readonly code: number
  readonly problem: Problem
}

const endingOf = (failure: Failure): Ending => {
  const { exit } = failure._tag === "BerthError" ? failure.reason : failure
  return { code: exitCode[exit], problem: problemOf(failure) }
}

/** Output that cannot be written is no fault of berth's. */
const endingOfDefect = (defect: unknown): Ending =>
  defect instanceof StdoutFailed
    ? { code: exitCode[defect.exit], problem: problemOfOutput(defect) }
    : { code: exitCode.fault, problem: problemOfDefect(defect) }

/** Ends a run with its exit code. The caller handles an interruption. */
export const withExitCode =
  (format: Format, debug: boolean) =>
  <R>(run: Effect.Effect<void, Failure | ProgramEnded, R>) =>
    run.pipe(
      Effect.as<number>(exitCode.done),
      Effect.catchTag("ProgramEnded", ({ code }) => Effect.succeed(code)),
      Effect.catchCause((cause) =>
        Effect.gen(function* () {
          if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
          const failure = Cause.findErrorOption(cause)
          const { code, problem } = Option.match(failure, {
            onSome: endingOf,
            onNone: () => endingOfDefect(Cause.squash(cause))
          })
          yield* reportProblem(problem, format)
          if (code === exitCode.fault && debug) yield* printDebug(Cause.pretty(cause))
          return code
        })
      )
    )
