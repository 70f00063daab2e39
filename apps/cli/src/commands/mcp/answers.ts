/**
 * What a tool's answer is on the wire: data as text and as JSON, both tame; a failure as a sentence, a hint and the JSON that the command
 * line prints, with the instant at which a spent rate limit lets more through.
 */
import { Cause, Clock, Effect, Option } from "effect"
import { McpSchema } from "effect/ai"
import { type Failure, type Problem, problemOf, problemOfDefect } from "../../failure/Problem.ts"
import type { Answer } from "./Tool.ts"
import { tame, untrustedText } from "./untrusted.ts"
import { retryAt } from "./changes.ts"
import { withTools } from "./toolHints.ts"

type Mask = (text: string) => string

/** Marks a result as the words of others, for programs. */
const untrusted = { "berth/untrusted": true }

const textOf = (text: string) => McpSchema.TextContent.make({ type: "text", text })

/** An answer as the toolkit takes it. */
export const answered = (answer: Answer, mask: Mask) => {
  if (answer instanceof McpSchema.InputRequired) return answer
  const data = tame(answer, mask)
  return McpSchema.CallToolResult.make({
    content: [textOf(untrustedText(data))],
    structuredContent: data,
    isError: false,
    _meta: untrusted
  })
}

/** How long to wait where the rate limit is spent; undefined for other failures. */
const waitMillis = ({ code, details }: Problem): number | undefined => {
  const millis = code === "WouldExceedDeadline" ? details["predictedMillis"] : details["retryAfterMillis"]
  return typeof millis === "number" && Number.isFinite(millis) && millis >= 0 ? millis : undefined
}

const problemOfCause = (cause: Cause.Cause<Failure>): Problem =>
  Option.match(Cause.findErrorOption(cause), {
    onSome: problemOf,
    onNone: () => problemOfDefect(Cause.squash(cause))
  })

/** A failure as a result, with its hint for the account that the server is for. */
export const failed = Effect.fnUntraced(function* (
  cause: Cause.Cause<Failure>,
  mask: Mask,
  followable: (hint: string) => string
) {
  const problem = problemOfCause(cause)
  const millis = waitMillis(problem)
  const when = millis === undefined ? undefined : retryAt(yield* Clock.currentTimeMillis, millis)
  const { details, ...error } = problem
  const { attempts: _, ...told } = details
  const hint = followable(withTools(error.hint))
  const data = tame(
    { error: { ...error, hint, ...(when !== undefined && { retryAt: when }), details: told } },
    mask
  ) as { readonly error: { readonly message: string; readonly hint: string } }
  const sentence = [data.error.message, data.error.hint, when === undefined ? "" : `Not before ${when}.`]
  return McpSchema.CallToolResult.make({
    content: [textOf(sentence.filter((text) => text !== "").join(" ")), textOf(untrustedText(data))],
    isError: true,
    _meta: untrusted
  })
})
