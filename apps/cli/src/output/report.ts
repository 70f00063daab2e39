/**
 * Tells a problem on stderr in the format that was asked for.
 */
import { Effect } from "effect"
import type { Problem } from "../failure/Problem.ts"
import { errorReport } from "./errorReport.ts"
import { Output } from "./Output.ts"
import type { Format } from "./OutputFormat.ts"

export const report = (problem: Problem, format: Format): Effect.Effect<void, never, Output> =>
  Output.use(({ note, stderr }) => note(errorReport(problem, format, stderr.colour)))
