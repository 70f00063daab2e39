/**
 * Which service to talk to and for which account. A flag wins over the environment; secrets come from the environment only,
 * because every user of the machine can read a command line, and a shell keeps it in its history.
 */
import { type AccountFiles, accountFiles } from "@berth/core/client/AccountFiles"
import type { ClientOptions, InvalidOption } from "@berth/core/client/options/Settings"
import { Config, Data, Effect, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import { variables } from "./variables.ts"

const addressFlag = "base-url"

/** The service's address on the command line. */
export const baseUrlFlag: Flag.Flag<Option.Option<string>> = Flag.String(addressFlag).pipe(
  Flag.withMetavar("URL"),
  Flag.withDescription(`The service's address; default $${variables.baseUrl}`),
  Flag.optional
)

/** A setting that is needed is not set, or not usable. */
export class SettingFault extends Data.TaggedError("SettingFault")<{
  /** The environment variable or the flag that holds it. */
  readonly setting: string
  /** A fault of the credentials is a matter of authentication. */
  readonly exit: "usage" | "denied"
  readonly message: string
  readonly hint: string
}> {}

/** How a client reaches the account, and the files that its processes on this machine share. */
export interface Connection {
  readonly options: ClientOptions
  readonly files: AccountFiles
}

/** What a variable holds; a blank one is not set. */
export const readVariable = (name: string): Effect.Effect<Option.Option<Redacted.Redacted>> =>
  Effect.map(
    Effect.orDie(Config.option(Config.Redacted(name))),
    Option.filter((value) => Redacted.value(value).trim() !== "")
  )

const required = (setting: string, exit: SettingFault["exit"], hint: string) =>
  Effect.flatMap(
    readVariable(setting),
    Option.match({
      onSome: Effect.succeed,
      onNone: () => Effect.fail(new SettingFault({ setting, exit, message: `${setting} is not set.`, hint }))
    })
  )

const secret = (name: string) =>
  required(name, "denied", `Set ${variables.apiKey} and ${variables.accessToken}; both are made in the account portal.`)

/** An option that no client can be made with, as the setting that it came from. */
const unusable =
  (addressSetting: string) =>
  ({ detail, option }: InvalidOption): SettingFault => {
    const isSecret = option === "apiKey" || option === "accessToken"
    const setting = isSecret ? variables[option] : addressSetting
    return new SettingFault({
      setting,
      exit: isSecret ? "denied" : "usage",
      message: `${setting} is not usable: ${detail}.`,
      hint: isSecret
        ? "Copy it again from the account portal."
        : "It is the service's scheme and host, such as https://HOST."
    })
  }

/** The connection that the settings name; `baseUrl` is what the flag gave. */
export const readConnection = Effect.fn("readConnection")(function* (
  baseUrl: Option.Option<string>
): Effect.fn.Return<Connection, SettingFault> {
  const hint = `Set ${variables.baseUrl}, or add --${addressFlag} https://HOST.`
  const options = {
    baseUrl: Option.isSome(baseUrl) ? baseUrl.value : Redacted.value(yield* required(variables.baseUrl, "usage", hint)),
    credentials: { apiKey: yield* secret(variables.apiKey), accessToken: yield* secret(variables.accessToken) }
  }
  const addressSetting = Option.isSome(baseUrl) ? `--${addressFlag}` : variables.baseUrl
  const files = yield* Effect.mapError(accountFiles(options), unusable(addressSetting))
  return { options: { ...options, allowanceFile: files.allowanceFile }, files }
})
