/**
 * The credentials, which come from the environment and from nowhere else: a flag would show them to everybody who can
 * list processes, and keep them in the shell's history.
 */
import type { Credentials } from "@berth/core/client/options/Settings"
import { redactor } from "@berth/core/client/transport/Redaction"
import { Config, Effect, Option, Redacted } from "effect"
import { SettingFault } from "../failure/CliFailure.ts"
import { escapeControls } from "../output/escapeControls.ts"

/** The variables that hold them. */
export const variables = { apiKey: "BERTH_API_KEY", accessToken: "BERTH_ACCESS_TOKEN" } as const

/** What a variable holds; a blank one is not set. */
const read = (variable: string): Effect.Effect<Option.Option<Redacted.Redacted>> =>
  Effect.map(
    Effect.orDie(Config.option(Config.Redacted(variable))),
    Option.filter((secret) => Redacted.value(secret).trim() !== "")
  )

const needed = (variable: string): Effect.Effect<Redacted.Redacted, SettingFault> =>
  Effect.flatMap(
    read(variable),
    Option.match({
      onSome: Effect.succeed,
      onNone: () =>
        Effect.fail(
          new SettingFault({
            setting: variable,
            secret: true,
            message: `${variable} is not set.`,
            hint: `Set ${variables.apiKey} and ${variables.accessToken}; both are made in the account portal.`
          })
        )
    })
  )

/** Both halves of the credentials. */
export const credentials: Effect.Effect<Credentials, SettingFault> = Effect.all({
  apiKey: needed(variables.apiKey),
  accessToken: needed(variables.accessToken)
})

/** A shorter secret may be a word, and masking it in our own sentences would garble them. */
const shortestInOwnWords = 8

/** The values as they were set, without the space around them, and as an error shows what cannot be a credential. */
const shown = (secret: string): ReadonlyArray<string> => {
  const bare = secret.trim()
  return [secret, bare, escapeControls(secret), escapeControls(bare)]
}

const masking = (shortest: number): Effect.Effect<(text: string) => string> =>
  Effect.map(Effect.all([read(variables.apiKey), read(variables.accessToken)]), (set) => {
    const secrets = set.flatMap(Option.toArray).map(Redacted.value)
    const values = new Set(secrets.flatMap(shown).filter(({ length }) => length >= shortest))
    const masks = Array.from(values)
      .toSorted((a, b) => b.length - a.length)
      .map((value) => Redacted.make(value))
      .map((secret) => redactor({ apiKey: secret, accessToken: secret }))
    return (text) => masks.reduce((masked, mask) => mask(masked), text)
  })

/** Masks whatever secrets are set in text that came from outside. */
export const redaction = masking(1)

/** Masks them in what berth itself says. What it repeats of the service, the client has masked already, at any length. */
export const ownRedaction = masking(shortestInOwnWords)
