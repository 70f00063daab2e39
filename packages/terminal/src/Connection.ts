/**
 * Decides which service and account to use. A flag wins over the environment. Secrets come only from the environment,
 * because every user of the machine can see command lines, and shells keep command lines in their history. Credentials go
 * only to the origin that they belong to, whatever the settings say (decision 0123).
 */
import { type AccountFiles, accountFiles } from "@berthkit/core/client/AccountFiles"
import type { ClientOptions, InvalidOption } from "@berthkit/core/client/options/Settings"
import { isExposed } from "@berthkit/core/client/transport/loopback"
import { Data, Effect, Option, Redacted } from "effect"
import { isPostgres, mayHoldPassword, postgresVariables, readAddress } from "./postgresAddress.ts"
import { readSetting } from "./readSetting.ts"
import { variables } from "./variables.ts"

/** The flag with the service's address. */
export const addressFlag = "base-url"

/** The flag with the database of the shared state. */
const stateFlag = "--state-url"

/** The two settings of the nodes' place. Either both are set, or neither. */
export const placeSettings = ["project", "location"] as const
export type PlaceSetting = (typeof placeSettings)[number]

/** A required setting is missing, or a setting is not usable. */
export class SettingFault extends Data.TaggedError("SettingFault")<{
  /** The environment variable or the flag of the setting. */
  readonly setting: string
  /** The exit code: `denied` if the problem is with the credentials, otherwise `usage`. */
  readonly exit: "usage" | "denied"
  readonly message: string
  readonly hint: string
}> {}

/** How a client reaches the account, and the files that its processes on this machine share. */
export interface Connection {
  readonly options: ClientOptions
  readonly files: AccountFiles
  /** The database with the state that several machines share; undefined if no setting names one. */
  readonly stateUrl: Redacted.Redacted | undefined
}

/** The value of a variable; a blank one counts as unset. */
export const readVariable = (name: string): Effect.Effect<Option.Option<Redacted.Redacted>> =>
  Effect.map(readSetting(name), (text = "") => (text.trim() === "" ? Option.none() : Option.some(Redacted.make(text))))

/** A value and the flag, variable or profile that it came from. */
export interface Sourced<A> {
  readonly value: A
  readonly source: string
}

/**
 * A credential, and the address that its source (such as a profile) states next to it. Berth sends the credential only
 * to that origin, or to any origin if the source states no address.
 */
export interface Credential extends Sourced<Redacted.Redacted> {
  readonly belongsTo: string | undefined
}

/** The project and the location of the nodes; none if unset. */
export type PlaceSettings = { readonly [Name in PlaceSetting]: Option.Option<Sourced<string>> }

/** The settings that identify an account; none if unset. */
export interface ConnectionSettings extends PlaceSettings {
  readonly baseUrl: Option.Option<Sourced<string>>
  readonly apiKey: Option.Option<Credential>
  readonly accessToken: Option.Option<Credential>
  /** Whether credentials may cross a network in plain text. */
  readonly allowHttp: boolean
  /** The `User-Agent` header. Default: the client's own. */
  readonly userAgent?: Option.Option<Sourced<string>> | undefined
  /** The account's name. Default: none. */
  readonly account?: Option.Option<Sourced<string>> | undefined
  /** The address of the database with the state that several machines share; it may hold a password. */
  readonly stateUrl?: Option.Option<Sourced<Redacted.Redacted>> | undefined
}

const required = <A>(
  found: Option.Option<A>,
  setting: string,
  exit: SettingFault["exit"],
  hint: string
): Effect.Effect<A, SettingFault> =>
  Option.match(found, {
    onSome: Effect.succeed,
    onNone: () => Effect.fail(new SettingFault({ setting, exit, message: `${setting} is not set.`, hint }))
  })

const sourceOf = (found: Option.Option<Sourced<unknown>>): string =>
  Option.match(found, { onNone: () => "", onSome: ({ source }) => source })

/** Turns the fault of a client option into a fault of the setting that it came from. */
const unusable =
  (settings: ConnectionSettings) =>
  ({ detail, option }: InvalidOption): SettingFault => {
    const isSecret = option === "apiKey" || option === "accessToken"
    // The option may also be a variable that only the client reads, such as one that names a file.
    const isVariable = option.startsWith("BERTH_")
    const isPlace = option === "project" || option === "location"
    const isName = option === "account" || option === "userAgent" || isPlace || isVariable
    const named = isPlace || option === "userAgent" ? settings[option] : isName ? settings.account : settings.baseUrl
    const found: Option.Option<Sourced<unknown>> = isSecret ? settings[option] : (named ?? Option.none())
    if (isPlace && Option.isNone(found)) {
      const other = option === "project" ? "location" : "project"
      const beside = sourceOf(settings[other] ?? Option.none())
      if (beside !== variables[other] && beside !== `--${other}`) {
        return new SettingFault({
          setting: beside,
          exit: "usage",
          message: `The ${beside.replace(/^the /, "")} has a ${other} and no ${option}.`,
          hint: `Add --${option}, or save both with berth auth login; project and location belong together.`
        })
      }
      return new SettingFault({
        setting: variables[option],
        exit: "usage",
        message: `${variables[option]} is not set: ${detail}.`,
        hint: `Set ${variables[option]} or add --${option}; project and location belong together.`
      })
    }
    const setting = isVariable ? option : sourceOf(found)
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

/** The database that this setting names. Missing parts of its address come from the environment. */
export const stateUrlOf = Effect.fnUntraced(function* (
  setting: ConnectionSettings["stateUrl"] = Option.none()
): Effect.fn.Return<Redacted.Redacted | undefined, SettingFault> {
  if (Option.isNone(setting)) return undefined
  const { source, value } = setting.value
  const isVariable = source === variables.stateUrl
  const isFlag = source === stateFlag
  return yield* Effect.mapError(
    Effect.flatMap(readPostgresAddress(Redacted.value(value)), Effect.fromResult),
    (problem) =>
      new SettingFault({
        setting: source,
        exit: "usage",
        message:
          isVariable || isFlag
            ? `${source} is not usable: it ${problem}.`
            : `stateUrl of ${source} is not usable: it ${problem}.`,
        hint: isVariable
          ? `Correct ${source}, or unset it.`
          : isFlag
            ? `Correct ${source}; it must not contain a password.`
            : `Set ${variables.stateUrl}, and run: berth auth login`
      })
  )
})

/** The database from a flag, otherwise from the environment. Fails if the flag may contain a password, because others can see the flag. */
export const databaseSetting = Effect.fnUntraced(function* (
  flag: string | undefined
): Effect.fn.Return<Option.Option<Sourced<Redacted.Redacted>>, SettingFault> {
  if (flag === undefined) return yield* variableSetting(variables.stateUrl)
  // `stateUrlOf` refuses strings that are not addresses.
  if (!isPostgres(flag) || !URL.canParse(flag) || !mayHoldPassword(flag)) {
    return Option.some({ value: Redacted.make(flag), source: stateFlag })
  }
  return yield* new SettingFault({
    setting: stateFlag,
    exit: "usage",
    message: `${stateFlag} must not contain a password: every user of the machine can see it.`,
    hint: `Put the password into PGPASSWORD or into the address in ${variables.stateUrl}, which berth auth login saves in the profile.`
  })
})

/** The database in `BERTH_STATE_URL`. */
export const stateUrlSetting = Effect.suspend(() => Effect.flatMap(variableSetting(variables.stateUrl), stateUrlOf))

/** A PostgreSQL address, with missing parts from the environment. */
export const readPostgresAddress = Effect.fnUntraced(function* (text: string) {
  const values = new Map<string, string>()
  for (const name of postgresVariables) {
    const value = yield* readVariable(name)
    if (Option.isSome(value)) values.set(name, Redacted.value(value.value))
  }
  return readAddress(text, (name) => values.get(name))
})

const originOf = (address: string): string | undefined => URL.parse(address)?.origin

/** Fails if a credential would go to an origin other than its own. */
export const ensureOwn = (
  address: Sourced<string>,
  { belongsTo, source }: Credential,
  what: "API key" | "access token",
  orElse: string
): Effect.Effect<void, SettingFault> => {
  if (belongsTo === undefined || originOf(belongsTo) === originOf(address.value)) return Effect.void
  const { accessToken, apiKey, baseUrl } = variables
  const name = source === apiKey || source === accessToken ? source : `The ${what} of ${source}`
  return Effect.fail(
    new SettingFault({
      setting: address.source,
      exit: "denied",
      message: `${name} belongs to ${originOf(belongsTo)} and is not sent to ${originOf(address.value)}, which ${address.source} names.`,
      hint:
        `${address.source.startsWith("--") ? "Omit" : "Unset"} ${address.source}, ` +
        `or set ${baseUrl}, ${apiKey} and ${accessToken} together${orElse === "" ? "" : `${orElse} --profile NAME`}.`
    })
  )
}

/** A warning about an address; undefined if nothing is wrong. */
export const addressWarning = (address: string | URL): string | undefined =>
  isExposed(address)
    ? `${originOf(String(address))} is plain http: anyone on the network path can read the credentials.`
    : undefined

/** Fails if credentials for this address would cross a network in plain text. */
export const ensurePrivate = (
  { source, value }: Sourced<string>,
  allowHttp: boolean
): Effect.Effect<void, SettingFault> =>
  allowHttp || !isExposed(value)
    ? Effect.void
    : Effect.fail(
        new SettingFault({
          setting: source,
          exit: "usage",
          message: `${source} is plain http: anyone on the network path to ${originOf(value)} could read the credentials.`,
          hint: `Use https://, or add --allow-http, or set ${variables.allowHttp}=1.`
        })
      )

/** The project as a number. A string that is not a whole number becomes NaN, which the check of the options refuses. */
export const projectOf = (text: string): number => (/^\d{1,16}$/.test(text) ? Number(text) : Number.NaN)

/** The connection from these settings. `orElse` is the end of a hint: another way to set what is missing. */
export const connectionOf = Effect.fnUntraced(function* (
  settings: ConnectionSettings,
  orElse = ""
): Effect.fn.Return<Connection, SettingFault> {
  const { accessToken, apiKey, baseUrl } = variables
  const addressHint = `Set ${baseUrl}, or add --${addressFlag} https://HOST${orElse}.`
  const secretHint = `Set ${apiKey} and ${accessToken}; both are made in the account portal${orElse}.`
  const address = yield* required(settings.baseUrl, baseUrl, "usage", addressHint)
  const key = yield* required(settings.apiKey, apiKey, "denied", secretHint)
  const token = yield* required(settings.accessToken, accessToken, "denied", secretHint)
  const [account, userAgent, project, location] = (["account", "userAgent", ...placeSettings] as const).map(
    (name) => Option.getOrUndefined(settings[name] ?? Option.none())?.value
  )
  const options = {
    baseUrl: address.value,
    credentials: { apiKey: key.value, accessToken: token.value },
    account,
    project: project === undefined ? undefined : projectOf(project),
    location,
    userAgent
  }
  const stateUrl = yield* stateUrlOf(settings.stateUrl)
  const files = yield* Effect.mapError(accountFiles(options), unusable(settings))
  yield* ensureOwn(address, key, "API key", orElse)
  yield* ensureOwn(address, token, "access token", orElse)
  yield* ensurePrivate(address, settings.allowHttp)
  const allowanceFile = stateUrl === undefined ? files.allowanceFile : undefined
  return { options: { ...options, allowanceFile }, files, stateUrl }
})

/** The value of a variable, with its source. */
export const variableSetting = (name: string): Effect.Effect<Option.Option<Sourced<Redacted.Redacted>>> =>
  Effect.map(
    readVariable(name),
    Option.map((value) => ({ value, source: name }))
  )

/** The plain text in a variable, trimmed. */
const textSetting = (name: string): Effect.Effect<Option.Option<Sourced<string>>> =>
  Effect.map(
    variableSetting(name),
    Option.map(({ source, value }) => ({ value: Redacted.value(value).trim(), source }))
  )

/** The account's name from the environment. */
export const accountName = textSetting(variables.account)

/** The `User-Agent` from a flag, otherwise from the environment. */
export const userAgentSetting = (flag: string | undefined): Effect.Effect<Option.Option<Sourced<string>>> =>
  flag === undefined
    ? textSetting(variables.userAgent)
    : Effect.succeedSome({ value: flag.trim(), source: "--user-agent" })

/** The project and the location from flags, otherwise from the environment. */
export const placeSetting = Effect.fnUntraced(function* (
  flags: Partial<Readonly<Record<PlaceSetting, string | undefined>>>
): Effect.fn.Return<PlaceSettings> {
  const setting = (name: PlaceSetting) =>
    flags[name] === undefined
      ? textSetting(variables[name])
      : Effect.succeedSome({ value: flags[name].trim(), source: `--${name}` })
  return { project: yield* setting("project"), location: yield* setting("location") }
})

/** The address from a flag, otherwise from the environment. */
export const addressSetting = (flag: Option.Option<string>): Effect.Effect<Option.Option<Sourced<string>>> =>
  Option.isSome(flag)
    ? Effect.succeedSome({ value: flag.value, source: `--${addressFlag}` })
    : Effect.map(
        variableSetting(variables.baseUrl),
        Option.map(({ source, value }) => ({ value: Redacted.value(value), source }))
      )

const switches: Readonly<Record<string, boolean>> = { "1": true, true: true, "0": false, false: false }

/** Whether the flag or the variable allows credentials to cross a network in plain text. */
export const allowHttpSetting = Effect.fnUntraced(function* (flag: boolean): Effect.fn.Return<boolean, SettingFault> {
  const variable = yield* readVariable(variables.allowHttp)
  if (flag || Option.isNone(variable)) return flag
  const isOn = switches[Redacted.value(variable.value).trim()]
  if (isOn !== undefined) return isOn
  return yield* new SettingFault({
    setting: variables.allowHttp,
    exit: "usage",
    message: `${variables.allowHttp} is not usable: expected 1 or 0.`,
    hint: `Correct ${variables.allowHttp}, or unset it.`
  })
})

/**
 * The settings from the flags and the environment. If the environment has an address, the credentials in the environment
 * belong to it.
 */
export const environmentSettings = Effect.fnUntraced(function* (
  baseUrl: Option.Option<string>,
  allowHttp: boolean,
  flags: Parameters<typeof placeSetting>[0] & {
    readonly userAgent?: string | undefined
    readonly stateUrl?: string | undefined
  } = {}
): Effect.fn.Return<ConnectionSettings, SettingFault> {
  const beside = Option.getOrUndefined(yield* addressSetting(Option.none()))?.value
  const credential = (name: string) =>
    Effect.map(
      variableSetting(name),
      Option.map((found): Credential => ({ ...found, belongsTo: beside }))
    )
  return {
    baseUrl: yield* addressSetting(baseUrl),
    apiKey: yield* credential(variables.apiKey),
    accessToken: yield* credential(variables.accessToken),
    allowHttp: yield* allowHttpSetting(allowHttp),
    userAgent: yield* userAgentSetting(flags.userAgent),
    account: yield* accountName,
    stateUrl: yield* databaseSetting(flags.stateUrl),
    ...(yield* placeSetting(flags))
  }
})

/** The connection from flags and the environment; the parameters are the values of the flags. */
export const readConnection = Effect.fn("readConnection")(function* (
  ...flags: Parameters<typeof environmentSettings>
): Effect.fn.Return<Connection, SettingFault> {
  const connection = yield* connectionOf(yield* environmentSettings(...flags))
  const warning = addressWarning(connection.options.baseUrl)
  if (warning !== undefined) yield* Effect.logWarning(warning)
  return connection
})
