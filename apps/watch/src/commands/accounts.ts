/**
 * `berth-watch account`: manages the accounts in a table of the store. A command changes only the table; running daemons notice
 * the change and follow it. Credentials are named by reference, or read from stdin and sealed (encrypted). They never appear on
 * a command line, in an output, or in plain text in the database.
 */
import { isPostgres } from "@berthkit/terminal/postgresAddress"
import { resolve } from "node:path"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Console, Effect, Option, Redacted, Result, Stdio, Stream } from "effect"
import { accountName } from "../config/Config.ts"
import { surroundings } from "../config/loadConfig.ts"
import { readSealKeys } from "../config/seal.ts"
import {
  type Credentials,
  isOfDaemon,
  ofDaemon,
  openCredentials,
  problemSentence,
  readPlain,
  readTableAccount,
  type Reference,
  sealCredentials,
  writeCredentials,
  writeOptions
} from "../config/TableAccount.ts"
import { CommandFailed, fromStoreFailed, misused } from "../process/CommandFailed.ts"
import { report } from "../process/report.ts"
import { nameHint } from "../settings/runConfig.ts"
import { type StoreOptions, storeSettings } from "../settings/storeSettings.ts"
import { fromSqlError, type StoreFailed } from "../store/StoreFailed.ts"
import type { AddOptions } from "./accountFlags.ts"
import { SharedStore } from "../store/peers.ts"
import { Store } from "../store/Store.ts"
import { maxTableAccounts, type TableAccountRow } from "../store/watchedAccounts.ts"

/** Larger than any two credentials. */
const maxInputLength = 64 * 1024

/** Runs `command` on a store in PostgreSQL, where the table is. `configured`: the accounts in the config. */
const onTable = (
  options: StoreOptions,
  command: (configured: ReadonlySet<string>) => Effect.Effect<void, CommandFailed | StoreFailed, Store>
) =>
  Effect.gen(function* () {
    const { accounts, store } = yield* storeSettings(options)
    if (!isPostgres(Redacted.value(store))) {
      return yield* misused(
        "account works only with a PostgreSQL store.",
        "With a store in a file, add the account to the config, then send SIGHUP."
      )
    }
    const onServer = Effect.gen(function* () {
      const { partsOf } = yield* Store
      const { processes } = yield* SharedStore
      const parts = yield* partsOf(yield* Effect.mapError(processes, fromSqlError))
      const running = Array.from(parts).flatMap((part) => /^account (\S+)/.exec(part)?.[1] ?? [])
      yield* command(new Set([...accounts, ...running]))
    })
    yield* Effect.provide(onServer, Store.layerServerReader(store))
  }).pipe(Effect.catchTag("StoreFailed", (failed) => fromStoreFailed(failed)))

const inConfig = (name: string) => misused(`The account ${name} is in the config: change it there.`)

const sealKeys = (hint?: string) =>
  Effect.mapError(Effect.fromResult(readSealKeys(surroundings.variable)), (why) => misused(why, hint))

/** Exactly one of two flags says where a secret is. */
const referenceOf = (
  env: Option.Option<string>,
  file: Option.Option<string>,
  flag: "api-key" | "access-token"
): Effect.Effect<Reference, CommandFailed> => {
  if (Option.isSome(env) === Option.isSome(file)) {
    return misused(
      `The account needs one of --${flag}-env and --${flag}-file, or --sealed for both of its credentials.`
    )
  }
  if (Option.isSome(file)) return Effect.succeed({ file: resolve(file.value) })
  // The user may have passed the secret itself instead of a name, so the error must not repeat the value.
  const variable = Option.getOrElse(env, () => "")
  if (isOfDaemon({ env: variable })) return misused(ofDaemon)
  return /^[A-Za-z_]\w{0,127}$/.test(variable)
    ? Effect.succeed({ env: variable })
    : misused(`--${flag}-env has to be the name of a variable, such as ACME_KEY.`)
}

/** The credentials on stdin. */
const readInput = Effect.gen(function* () {
  const { stdin, stdinIsTerminal } = yield* Stdio.Stdio
  const wanted = "Pipe in the API key and the access token: one per line, or as JSON with apiKey and accessToken."
  if (yield* stdinIsTerminal)
    return yield* misused("--sealed does not read from a terminal, because that shows what you type.", wanted)
  let length = 0
  const begin = Stream.takeUntil(Stream.decodeText(stdin), (text) => (length += text.length) > maxInputLength)
  const input = yield* Effect.orElseSucceed(Stream.mkString(begin), () => "")
  const json = readPlain(input)
  const [apiKey = "", accessToken = "", ...rest] = Result.isSuccess(json)
    ? [json.success.apiKey, json.success.accessToken]
    : input.trim().split(/\s*\n\s*/)
  if (apiKey === "" || accessToken === "" || rest.length > 0 || length > maxInputLength) {
    return yield* misused("stdin does not have an API key and an access token.", wanted)
  }
  return { apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) }
})

const placeOf = ({ location, project }: Pick<AddOptions, "location" | "project">) => ({
  ...Option.match(project, { onNone: () => ({}), onSome: (project) => ({ project }) }),
  ...Option.match(location, { onNone: () => ({}), onSome: (location) => ({ location }) })
})

/**
 * How the daemons find the credentials that the flags name. The command checks that the credentials are usable, unless a flag turns this
 * check off.
 */
const readCredentials = Effect.fnUntraced(function* (flags: AddOptions) {
  const { accessTokenEnv, accessTokenFile, allowHttp, apiKeyEnv, apiKeyFile, baseUrl, sealed, unchecked } = flags
  const references = [apiKeyEnv, accessTokenEnv, apiKeyFile, accessTokenFile]
  if (sealed && (unchecked || references.some(Option.isSome))) {
    return yield* misused(
      "--sealed reads the credentials from stdin: leave out --unchecked and the flags that name them."
    )
  }
  const place = placeOf(flags)
  const check = (credentials: { readonly apiKey: Redacted.Redacted; readonly accessToken: Redacted.Redacted }) => {
    const problem = problemSentence({ baseUrl, credentials, ...place }, allowHttp, "--base-url")
    return problem === null ? Effect.void : misused(problem)
  }
  // Check the address first: if it is unusable, nothing else matters.
  const usable = Redacted.make("usable")
  yield* check({ apiKey: usable, accessToken: usable })
  if (sealed) {
    const keys = yield* sealKeys("Make a key with openssl rand -base64 32; the daemons need it as well.")
    const given = yield* readInput
    yield* check(given)
    return sealCredentials(keys, flags, given)
  }
  const stated: Credentials = {
    apiKey: yield* referenceOf(apiKeyEnv, apiKeyFile, "api-key"),
    accessToken: yield* referenceOf(accessTokenEnv, accessTokenFile, "access-token")
  }
  if (unchecked) return stated
  const found = openCredentials(flags, stated, surroundings)
  if (Result.isFailure(found)) {
    return yield* misused(found.failure, "If it is only where the daemons run, add --unchecked.")
  }
  yield* check(found.success)
  return stated
})

export const addAccount = Effect.fn("addAccount")(function* (options: StoreOptions, flags: AddOptions) {
  const { baseUrl, name } = flags
  if (accountName(name) === undefined) return yield* misused("The account name is not usable.", nameHint)
  const credentials = writeCredentials(yield* readCredentials(flags))
  const { allowHttp, grace: graceMillis, hold: holdMillis, interval: intervalMillis, share } = flags
  const own = writeOptions({ ...placeOf(flags), allowHttp, intervalMillis, share, graceMillis, holdMillis })
  yield* onTable(
    options,
    Effect.fnUntraced(function* (configured) {
      if (configured.has(name)) return yield* inConfig(name)
      const { addWatchedAccount } = yield* Store
      const done = yield* addWatchedAccount({ name, baseUrl, credentials, options: own }, flags.replace)
      if (done === "known") {
        return yield* misused(`The account ${name} exists already.`, "Add --replace to change it.")
      }
      if (done === "full") return yield* misused(`There are ${maxTableAccounts} accounts, which is the maximum.`)
      yield* Console.log(`The account ${name} is ${done}.`)
    })
  )
})

const results = { active: "resumed", paused: "paused", removed: "removed" } as const

/** Pauses, resumes or removes an account. */
export const setAccount = Effect.fn("setAccount")(function* (
  options: StoreOptions,
  name: string,
  state: TableAccountRow["state"]
) {
  yield* onTable(
    options,
    Effect.fnUntraced(function* (configured) {
      const { setWatchedState } = yield* Store
      if (yield* setWatchedState(name, state)) return yield* Console.log(`The account ${name} is ${results[state]}.`)
      if (configured.has(name)) return yield* inConfig(name)
      return yield* new CommandFailed({
        exit: "notFound",
        message: `There is no account of that name.`,
        hint: "List the accounts: berth-watch account list."
      })
    })
  )
})

/** The accounts in the table that are not removed, sorted by name. */
const present = Effect.gen(function* () {
  const { watchedAccounts } = yield* Store
  const rows = yield* watchedAccounts(0)
  return rows.filter(({ state }) => state !== "removed").toSorted((a, b) => (a.name < b.name ? -1 : 1))
})

const shownReference = (reference: Reference) => ("env" in reference ? reference.env : reference.file)

/** The place of the credentials, never the credentials themselves. */
const shownCredentials = (credentials: Credentials) =>
  "sealed" in credentials
    ? { sealedUnder: credentials.keyId }
    : { apiKey: credentials.apiKey, accessToken: credentials.accessToken }

const lineOf = ({ baseUrl, name, state, ...row }: TableAccountRow, format: "text" | "json"): string => {
  const stated = Result.getOrNull(readTableAccount({ baseUrl, name, ...row }))
  if (format === "json") {
    return JSON.stringify({
      account: name,
      state,
      baseUrl,
      ...(stated === null ? {} : { credentials: shownCredentials(stated.credentials), ...stated.options })
    })
  }
  if (stated === null) return `account ${name}: ${state}, ${baseUrl}, which cannot be read`
  const { credentials } = stated
  const from =
    "sealed" in credentials
      ? `sealed under ${credentials.keyId}`
      : `${shownReference(credentials.apiKey)} ${shownReference(credentials.accessToken)}`
  return escapeControls(`account ${name}: ${state}, ${baseUrl}, credentials ${from}`)
}

/** Prints one line per account. */
export const listAccounts = Effect.fn("listAccounts")(function* (options: StoreOptions, format: "text" | "json") {
  yield* onTable(
    options,
    Effect.fnUntraced(function* () {
      const rows = yield* present
      for (const row of rows) yield* Console.log(lineOf(row, format))
      if (rows.length === 0 && format === "text")
        yield* Console.log("There are no accounts other than those in the config.")
    })
  )
})

/** Takes credentials that were sealed with an older key, and seals them with the first key. */
export const resealAccounts = Effect.fn("resealAccounts")(function* (options: StoreOptions) {
  const keys = yield* sealKeys()
  yield* onTable(
    options,
    Effect.fnUntraced(function* () {
      const { resealWatched } = yield* Store
      const older: Array<Pick<TableAccountRow, "name" | "revision" | "credentials">> = []
      let failures = 0
      for (const row of yield* present) {
        const stated = Result.map(readTableAccount(row), ({ credentials }) => credentials)
        if (Result.isSuccess(stated) && !("sealed" in stated.success && stated.success.keyId !== keys[0].id)) continue
        const opened = Result.flatMap(stated, (credentials) => openCredentials(row, credentials, surroundings))
        if (Result.isFailure(opened)) {
          failures++
          yield* report(`berth-watch: account ${row.name}: ${opened.failure}`)
        } else {
          const credentials = writeCredentials(sealCredentials(keys, row, opened.success))
          older.push({ name: row.name, revision: row.revision, credentials })
        }
      }
      const count = older.length === 0 ? 0 : yield* resealWatched(older)
      yield* Console.log(`${count === 1 ? "1 account is" : `${count} accounts are`} sealed anew, under ${keys[0].id}.`)
      if (failures > 0)
        return yield* misused("The credentials of some accounts cannot be opened; they stay as they are.")
      if (count < older.length)
        return yield* misused("Somebody changed accounts in the meantime.", "Run the command once more.")
    })
  )
})
