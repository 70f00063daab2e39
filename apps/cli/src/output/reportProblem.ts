/**
 * Writes problems to stderr, as two lines for people or one line of JSON for programs. After an interruption it also reports what is
 * unfinished.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Effect } from "effect"
import { type Problem, problemOf } from "../failure/Problem.ts"
import { styled } from "./cells.ts"
import { jsonLine } from "./json.ts"
import { Output } from "./Output.ts"
import { Interrupted } from "../failure/CliFailure.ts"

const hintLine = (hint: string, colour: boolean) => `${styled("hint:", "faint", colour)} ${escapeControls(hint)}`

/** The text of a problem without its last line feed. */
const problemText = (problem: Problem, { jsonErrors, stderr: { colour } }: Output["Service"]): string => {
  if (jsonErrors) return jsonLine({ error: problem })
  const sentence = escapeControls(problem.message)
  // A command that the user has stopped has not failed, so it gets no `error:`.
  const lines = [problem.code === "Interrupted" ? sentence : `${styled("error:", "bad", colour)} ${sentence}`]
  if (problem.hint !== "") lines.push(hintLine(problem.hint, colour))
  return lines.join("\n")
}

export const reportProblem = (problem: Problem): Effect.Effect<void, never, Output> =>
  Output.use((output) => output.note(problemText({ ...problem, hint: output.followable(problem.hint) }, output)))

/** Writes the hints of problems that a table shows, each hint once. */
export const reportHints = (problems: ReadonlyArray<Problem>): Effect.Effect<void, never, Output> =>
  Output.use(({ followable, note, stderr: { colour } }) =>
    Effect.forEach(
      new Set(problems.flatMap(({ hint }) => (hint === "" ? [] : [followable(hint)]))),
      (hint) => note(hintLine(hint, colour)),
      { discard: true }
    )
  )

/** On interruption reports what is unfinished, if anything. */
export const whenInterrupted =
  (left: () => (Pick<Problem, "message" | "hint"> & Partial<Pick<Problem, "details">>) | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Output> =>
    Effect.onInterrupt(effect, () => {
      const found = left()
      return found === undefined ? Effect.void : reportProblem(problemOf(new Interrupted(found)))
    })
