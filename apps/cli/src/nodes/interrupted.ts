/**
 * What an interruption leaves behind, and how to go on: reported by what was under way.
 */
import { Effect } from "effect"
import type { GlobalSettings } from "../commandLine/GlobalSettings.ts"
import { Interrupted } from "../failure/CliFailure.ts"
import { problemOf } from "../failure/Problem.ts"
import type { Output } from "../output/Output.ts"
import { OutputFormat } from "../output/OutputFormat.ts"
import { reportProblem } from "../output/reportProblem.ts"

/** The state of things, and a command to type. */
interface Left {
  readonly message: string
  readonly hint: string
}

/** Reports what is left when it is interrupted; nothing where there is nothing to report. */
export const whenInterrupted =
  (left: () => Left | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Output | GlobalSettings> =>
    Effect.onInterrupt(effect, () =>
      Effect.gen(function* () {
        const found = left()
        if (found !== undefined) yield* reportProblem(problemOf(new Interrupted(found)), yield* OutputFormat)
      })
    )
