/**
 * The client for the account that the settings name. A command that talks to the service provides itself with it, so that
 * `berth --help` needs no settings.
 */
import * as Berth from "@berth/core/client/Berth"
import type { InvalidOption } from "@berth/core/client/Settings"
import { Config, Effect, Layer, Option } from "effect"
import { SettingFault } from "../failure/CliFailure.ts"
import { credentials } from "./credentials.ts"
import { BaseUrl } from "./globalFlags.ts"
import { transport } from "./transport.ts"

const baseUrlVariable = "BERTH_BASE_URL"

const baseUrl = Effect.gen(function* () {
  const given = yield* BaseUrl
  const found = Option.isSome(given) ? given : yield* Effect.orDie(Config.option(Config.String(baseUrlVariable)))
  if (Option.isSome(found)) return found.value
  return yield* new SettingFault({
    variable: baseUrlVariable,
    secret: false,
    message: `It is not said where the service is: ${baseUrlVariable} is not set.`,
    hint: `Set ${baseUrlVariable}, or give --base-url https://HOST.`
  })
})

/** An option the client cannot be made with, as the setting it came from. */
const unusable = (error: InvalidOption): SettingFault => {
  const variable =
    error.option === "apiKey"
      ? "BERTH_API_KEY"
      : error.option === "accessToken"
        ? "BERTH_ACCESS_TOKEN"
        : baseUrlVariable
  return new SettingFault({
    variable,
    secret: variable !== baseUrlVariable,
    message: `${variable} is not usable: ${error.detail}.`,
    hint:
      variable === baseUrlVariable
        ? "It is the service's scheme and host, such as https://HOST."
        : "Copy it again from the account portal."
  })
}

export const client = Layer.unwrap(
  Effect.gen(function* () {
    const options = { baseUrl: yield* baseUrl, credentials: yield* credentials }
    return Berth.layer(options).pipe(
      Layer.catchTag("InvalidOption", (error) =>
        Layer.effectContext<Berth.Berth, SettingFault, never>(Effect.fail(unusable(error)))
      ),
      Layer.provide(transport)
    )
  })
)
