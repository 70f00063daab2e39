/**
 * Which service to talk to and for which account. A flag wins over the environment; secrets come from the environment only,
 * because every user of the machine can read a command line, and a shell keeps it in its history.
 */
import { type AccountFiles, accountFiles } from "@berth/core/client/AccountFiles"
import type { ClientOptions, InvalidOption } from "@berth/core/client/options/Settings"
import { Data, Effect, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import { readSetting } from "./readSetting.ts"
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
  Effect.map(readSetting(name), (text = "") => (text.trim() === "" ? Option.none() : Option.some(Redacted.make(text))))

/** A value and the flag, variable or profile that it came from. */
export interface Sourced<A> {
  readonly value: A
  readonly source: string
}

/** What names an account; none where nothing sets it. */
export interface ConnectionSettings {
  readonly baseUrl: Option.Option<Sourced<string>>
  readonly apiKey: Option.Option<Sourced<Redacted.Redacted>>
  readonly accessToken: Option.Option<Sourced<Redacted.Redacted>>
  /** The account's name, which need not be set. */
  readonly account?: Option.Option<Sourced<string>>
}

const required = <A>(
  found: Option.Option<Sourced<A>>,
  setting: string,
  exit: SettingFault["exit"],
  hint: string
): Effect.Effect<A, SettingFault> =>
  Option.match(found, {
    onSome: ({ value }) => Effect.succeed(value),
    onNone: () => Effect.fail(new SettingFault({ setting, exit, message: `${setting} is not set.`, hint }))
  })

const sourceOf = (found: Option.Option<Sourced<unknown>>): string =>
  Option.match(found, { onNone: () => "", onSome: ({ source }) => source })

/** An option that no client can be made with, as the setting that it came from. */
const unusable =
  (settings: ConnectionSettings) =>
  ({ detail, option }: InvalidOption): SettingFault => {
    const isSecret = option === "apiKey" || option === "accessToken"
    const isName = option === "account"
    const named = isName ? (settings.account ?? Option.none()) : settings.baseUrl
    const setting = sourceOf(isSecret ? settings[option] : named)
    return new SettingFault({
      setting,
      exit: isSecret ? "denied" : "usage",
      message: `${setting} is not usable: ${detail}.`,
      hint: isSecret
        ? "Copy it again from the account portal."
        : isName
          ? `Correct ${setting}, or unset it.`
          : "It is the service's scheme and host, such as https://HOST."
    })
  }

/** The connection of these settings. `orElse` is another way to set what is missing, as the end of a hint. */
export const connectionOf = Effect.fnUntraced(function* (
  settings: ConnectionSettings,
  orElse = ""
): Effect.fn.Return<Connection, SettingFault> {
  const { accessToken, apiKey, baseUrl } = variables
  const addressHint = `Set ${baseUrl}, or add --${addressFlag} https://HOST${orElse}.`
  const secretHint = `Set ${apiKey} and ${accessToken}; both are made in the account portal${orElse}.`
  const options = {
    baseUrl: yield* required(settings.baseUrl, baseUrl, "usage", addressHint),
    credentials: {
      apiKey: yield* required(settings.apiKey, apiKey, "denied", secretHint),
      accessToken: yield* required(settings.accessToken, accessToken, "denied", secretHint)
    },
    account: Option.getOrUndefined(settings.account ?? Option.none())?.value
  }
  const files = yield* Effect.mapError(accountFiles(options), unusable(settings))
  return { options: { ...options, allowanceFile: files.allowanceFile }, files }
})

/** What a variable sets. */
export const variableSetting = (name: string): Effect.Effect<Option.Option<Sourced<Redacted.Redacted>>> =>
  Effect.map(
    readVariable(name),
    Option.map((value) => ({ value, source: name }))
  )

/** The name of the account that the environment gives. */
export const accountName: Effect.Effect<Option.Option<Sourced<string>>> = Effect.map(
  variableSetting(variables.account),
  Option.map(({ source, value }) => ({ value: Redacted.value(value).trim(), source }))
)

/** An address that a flag gives, or else the environment. */
export const addressSetting = (flag: Option.Option<string>): Effect.Effect<Option.Option<Sourced<string>>> =>
  Option.isSome(flag)
    ? Effect.succeedSome({ value: flag.value, source: `--${addressFlag}` })
    : Effect.map(
        variableSetting(variables.baseUrl),
        Option.map(({ source, value }) => ({ value: Redacted.value(value), source }))
      )

/** The connection that a flag and the environment name; `baseUrl` is what the flag gave. */
export const readConnection = Effect.fn("readConnection")(function* (
  baseUrl: Option.Option<string>
): Effect.fn.Return<Connection, SettingFault> {
  return yield* connectionOf({
    baseUrl: yield* addressSetting(baseUrl),
    apiKey: yield* variableSetting(variables.apiKey),
    accessToken: yield* variableSetting(variables.accessToken),
    account: yield* accountName
  })
})
