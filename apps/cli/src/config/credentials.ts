/**
 * The credentials, which come from the environment and from nowhere else: a flag would show them to everybody who can
 * list processes, and keep them in the shell's history.
 */
import type { Credentials } from "@berth/core/client/Settings"
import { redactor } from "@berth/core/client/Redaction"
import { Config, Effect, Option, type Redacted } from "effect"
import { SettingFault } from "../failure/CliFailure.ts"

/** The variables that hold them. */
export const variables = { apiKey: "BERTH_API_KEY", accessToken: "BERTH_ACCESS_TOKEN" } as const

const read = (variable: string): Effect.Effect<Option.Option<Redacted.Redacted>> =>
  Effect.orDie(Config.option(Config.Redacted(variable)))

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

/** Masks whatever secrets are set, also where only one of them is. */
export const redaction: Effect.Effect<(text: string) => string> = Effect.gen(function* () {
  const apiKey = yield* read(variables.apiKey)
  const accessToken = yield* read(variables.accessToken)
  const set = Option.orElse(apiKey, () => accessToken)
  if (Option.isNone(set)) return (text) => text
  return redactor({
    apiKey: Option.getOrElse(apiKey, () => set.value),
    accessToken: Option.getOrElse(accessToken, () => set.value)
  })
})
