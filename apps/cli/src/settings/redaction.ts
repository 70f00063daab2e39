/**
 * Takes the credentials that are set in the environment out of what berth prints, in every spelling. The client does the same
 * to its errors; this is for the rest: replies, and the words of the command line.
 */
import { redactor } from "@berth/core/client/transport/Redaction"
import { readVariable } from "@berth/terminal/Connection"
import { variables } from "@berth/terminal/variables"
import { Effect, Option, Redacted } from "effect"

/** Masks the credentials in a text; without the space around them, which a sentence may leave out. */
export const redaction: Effect.Effect<(text: string) => string> = Effect.map(
  Effect.all([readVariable(variables.apiKey), readVariable(variables.accessToken)]),
  (set) => {
    const [first, second = first] = set
      .flatMap(Option.toArray)
      .map((secret) => Redacted.make(Redacted.value(secret).trim()))
    if (first === undefined || second === undefined) return (text) => text
    const redact = redactor({ apiKey: first, accessToken: second })
    return (text) => redact(text)
  }
)
