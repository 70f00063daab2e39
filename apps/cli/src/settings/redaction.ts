/**
 * Takes the credentials that are set in the environment or in a profile out of what berth prints, in every spelling. The client does the same
 * to its errors; this is for the rest: replies, and the words of the command line.
 */
import { redactor } from "@berthkit/core/client/transport/Redaction"
import { readVariable } from "@berthkit/terminal/Connection"
import { variables } from "@berthkit/terminal/variables"
import { Effect, Option, Redacted } from "effect"
import { readProfiles } from "./ProfileFile.ts"

/** A text with two credentials masked; without the space around them, which a sentence may leave out. */
const masking = (secrets: ReadonlyArray<Redacted.Redacted>): ((text: string) => string) => {
  const [first, second = first] = secrets.map((secret) => Redacted.make(Redacted.value(secret).trim()))
  if (first === undefined || second === undefined) return (text) => text
  // Made with the first text: most commands print nothing that could hold a secret.
  let redact: ((text: string) => string) | undefined
  return (text) => (redact ??= redactor({ apiKey: first, accessToken: second }))(text)
}

/** The credentials of every profile; none of a file that cannot be used, which is reported where it is needed. */
const profileSecrets = Effect.match(readProfiles, {
  onFailure: () => [],
  onSuccess: ({ profiles }) => Array.from(profiles.values(), ({ accessToken, apiKey }) => [apiKey, accessToken])
})

/** Masks the credentials of the environment and of every profile in a text. */
export const redaction: Effect.Effect<(text: string) => string> = Effect.gen(function* () {
  const set = yield* Effect.all([readVariable(variables.apiKey), readVariable(variables.accessToken)])
  const masks = [set.flatMap(Option.toArray), ...(yield* profileSecrets)].map(masking)
  return (text) => masks.reduce((masked, mask) => mask(masked), text)
})
