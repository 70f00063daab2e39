/**
 * Takes the credentials that are set in the environment out of what berth prints.
 */
import { redactor } from "@berth/core/client/transport/Redaction"
import { readVariable } from "@berth/terminal/Connection"
import { escapeControls } from "@berth/terminal/escapeControls"
import { variables } from "@berth/terminal/variables"
import { Effect, Option, Redacted } from "effect"

/** A shorter secret may be a word, and masking it in our own sentences would garble them. */
const minOwnLength = 8

/** The values as they are set, without the space around them, and as an error shows what cannot be a credential. */
const shown = (secret: string): ReadonlyArray<string> => {
  const bare = secret.trim()
  return [secret, bare, escapeControls(secret), escapeControls(bare)]
}

const masking = (minLength: number): Effect.Effect<(text: string) => string> =>
  Effect.map(Effect.all([readVariable(variables.apiKey), readVariable(variables.accessToken)]), (set) => {
    const secrets = set.flatMap(Option.toArray).map(Redacted.value)
    const values = new Set(secrets.flatMap(shown).filter(({ length }) => length >= minLength))
    const masks = Array.from(values)
      .toSorted((a, b) => b.length - a.length)
      .map((value) => Redacted.make(value))
      .map((secret) => redactor({ apiKey: secret, accessToken: secret }))
    return (text) => masks.reduce((masked, mask) => mask(masked), text)
  })

/** Masks the secrets in text from outside. */
export const redaction = masking(1)

/** Masks them in berth's own sentences. What these repeat of the service is masked by the client already, at any length. */
export const ownRedaction = masking(minOwnLength)
