/**
 * The client for the account that the settings name. A command that talks to the service provides itself with it, so that
 * `berth --help` needs no settings.
 */
import * as Berth from "@berth/core/client/Berth"
import type { InvalidOption } from "@berth/core/client/Settings"
import { Config, Effect, Layer, Option } from "effect"
import { SettingFault } from "../failure/CliFailure.ts"
import { credentials, variables } from "./credentials.ts"
import { BaseUrl } from "./globalFlags.ts"
import { spans, transport } from "./transport.ts"

const baseUrlVariable = "BERTH_BASE_URL"

/** The service's address, and the name of the setting that gave it. */
const baseUrl = Effect.gen(function* () {
  const given = yield* BaseUrl
  if (Option.isSome(given)) return { address: given.value, setting: "--base-url" }
  const found = yield* Effect.orDie(Config.option(Config.String(baseUrlVariable)))
  if (Option.isSome(found) && found.value.trim() !== "") return { address: found.value, setting: baseUrlVariable }
  return yield* new SettingFault({
    setting: baseUrlVariable,
    secret: false,
    message: `It is not said where the service is: ${baseUrlVariable} is not set.`,
    hint: `Set ${baseUrlVariable}, or give --base-url https://HOST.`
  })
})

/** An option the client cannot be made with, as the setting it came from. */
const unusable = ({ detail, option }: InvalidOption, addressSetting: string): SettingFault =>
  option === "apiKey" || option === "accessToken"
    ? new SettingFault({
        setting: variables[option],
        secret: true,
        message: `${variables[option]} is not usable: ${detail}.`,
        hint: "Copy it again from the account portal."
      })
    : new SettingFault({
        setting: addressSetting,
        secret: false,
        message: `${addressSetting} is not usable: ${detail}.`,
        hint: "It is the service's scheme and host, such as https://HOST."
      })

export const client = Layer.unwrap(
  Effect.gen(function* () {
    const { address, setting } = yield* baseUrl
    return Berth.layer({ baseUrl: address, credentials: yield* credentials }).pipe(
      Layer.catchTag("InvalidOption", (error) =>
        Layer.effectContext<Berth.Berth, SettingFault, never>(Effect.fail(unusable(error, setting)))
      ),
      Layer.provide(transport),
      Layer.merge(spans)
    )
  })
)
