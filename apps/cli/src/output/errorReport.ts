/**
 * How a problem is written: two lines for people, one line of JSON for programs. Always for stderr.
 */
import type { Problem } from "../failure/Problem.ts"
import { escapeControls } from "./escapeControls.ts"
import { jsonLine } from "./json.ts"
import type { Format } from "./OutputFormat.ts"
import { styled } from "./style.ts"

/** The problem as text without its last line feed. */
export const errorReport = (problem: Problem, format: Format, colour: boolean): string => {
  if (format !== "table") return jsonLine({ error: problem })
  const sentence = escapeControls(problem.message)
  // What a person stopped is told, but it is no error.
  const lines = [problem.code === "Interrupted" ? sentence : `${styled("error:", "bad", colour)} ${sentence}`]
  if (problem.hint !== "") lines.push(`${styled("hint:", "faint", colour)} ${escapeControls(problem.hint)}`)
  return lines.join("\n")
}
