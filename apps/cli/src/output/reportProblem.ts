/**
 * How a problem is written on stderr: two lines for people, one line of JSON for programs.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import type { Effect } from "effect"
import type { Problem } from "../failure/Problem.ts"
import { styled } from "./cells.ts"
import { jsonLine } from "./json.ts"
import { Output } from "./Output.ts"
import { type Format, hasJsonErrors } from "./OutputFormat.ts"

/** The problem as text without its last line feed. */
const problemText = (problem: Problem, format: Format, colour: boolean): string => {
  if (hasJsonErrors(format)) return jsonLine({ error: problem })
  const sentence = escapeControls(problem.message)
  // A command that its user stopped has not failed.
  const lines = [problem.code === "Interrupted" ? sentence : `${styled("error:", "bad", colour)} ${sentence}`]
  if (problem.hint !== "") lines.push(`${styled("hint:", "faint", colour)} ${escapeControls(problem.hint)}`)
  return lines.join("\n")
}

export const reportProblem = (problem: Problem, format: Format): Effect.Effect<void, never, Output> =>
  Output.use(({ followable, note, stderr }) =>
    note(problemText({ ...problem, hint: followable(problem.hint) }, format, stderr.colour))
  )
