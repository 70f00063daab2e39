/**
 * Masks the credentials of the environment and of all profiles in everything that berth prints, in every spelling. The client itself masks
 * its errors. This masking is for replies and for the words of the command line.
 */
import { redactor } from "@berthkit/core/client/transport/Redaction"
import { readVariable } from "@berthkit/terminal/Connection"
import { variables } from "@berthkit/terminal/variables"
import { Effect, Option, Redacted } from "effect"
import { readProfiles } from "./ProfileFile.ts"

/** Masks two credentials in a string, even if the string has them without the spaces around them. */
const masking = (secrets: ReadonlyArray<Redacted.Redacted>): ((text: string) => string) => {
  const [first, second = first] = secrets.map((secret) => Redacted.make(Redacted.value(secret).trim()))
  if (first === undefined || second === undefined) return (text) => text
  // Created at the first text, because most commands print nothing that could contain a secret.
  let redact: ((text: string) => string) | undefined
  return (text) => (redact ??= redactor({ apiKey: first, accessToken: second }))(text)
}

/** The credentials of every profile. None if the profile file cannot be used; the code that needs a profile reports that. */
const profileSecrets = Effect.match(readProfiles, {
  onFailure: () => [],
  onSuccess: ({ profiles }) => Array.from(profiles.values(), ({ accessToken, apiKey }) => [apiKey, accessToken])
})

/** Masks the credentials of the environment and of every profile in a string. */
export const redaction: Effect.Effect<(text: string) => string> = Effect.gen(function* () {
  const set = yield* Effect.all([readVariable(variables.apiKey), readVariable(variables.accessToken)])
  const masks = [set.flatMap(Option.toArray), ...(yield* profileSecrets)].map(masking)
  return (text) => masks.reduce((masked, mask) => mask(masked), text)
})
