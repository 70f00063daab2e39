/**
 * An account from the store's table, as a process watches it. Its credentials come from variables or files on the machine of
 * that process, or are decrypted with a key in its environment. Every failure is a sentence about this account only.
 */
import { variables } from "@berthkit/terminal/variables"
import { Redacted, Result, Schema } from "effect"
import type { TableAccount } from "../store/watchedAccounts.ts"
import { type AccountOptions, connectionProblem, type Surroundings, userAgentOf } from "./Config.ts"
import { readSealKeys, seal, Sealed, type SealKeys, unseal } from "./seal.ts"

/** Where a secret is, written as in a config. */
const Reference = Schema.Union([Schema.Struct({ env: Schema.String }), Schema.Struct({ file: Schema.String })])
export type Reference = typeof Reference.Type

export const Credentials = Schema.Union([Schema.Struct({ apiKey: Reference, accessToken: Reference }), Sealed])
export type Credentials = typeof Credentials.Type

const Options = Schema.Struct({
  project: Schema.optionalKey(Schema.Int),
  location: Schema.optionalKey(Schema.String),
  allowHttp: Schema.Boolean,
  intervalMillis: Schema.NullOr(Schema.Finite),
  share: Schema.Finite,
  graceMillis: Schema.Finite,
  holdMillis: Schema.Finite
})

/** The two secrets before sealing. */
const Plain = Schema.Struct({ apiKey: Schema.String, accessToken: Schema.String })

const CredentialsJson = Schema.fromJsonString(Credentials)
const OptionsJson = Schema.fromJsonString(Options)
const PlainJson = Schema.fromJsonString(Plain)

const readCredentials = Schema.decodeResult(CredentialsJson)
const readOptions = Schema.decodeResult(OptionsJson)
export const readPlain = Schema.decodeResult(PlainJson)
export const writeCredentials = Schema.encodeSync(CredentialsJson)
export const writeOptions = Schema.encodeSync(OptionsJson)
const writePlain = Schema.encodeSync(PlainJson)

const about = ({ baseUrl, name }: Pick<TableAccount, "name" | "baseUrl">) => ["berth-watch account", name, baseUrl]

/** The credentials in the form that the table may store. */
export const sealCredentials = (
  keys: SealKeys,
  account: Pick<TableAccount, "name" | "baseUrl">,
  { accessToken, apiKey }: AccountOptions["connection"]["credentials"]
): Credentials => {
  const plain = writePlain({ apiKey: Redacted.value(apiKey), accessToken: Redacted.value(accessToken) })
  return seal(keys, about(account), Redacted.make(plain))
}

const unreadable = "Its row in the table cannot be read: a newer berth-watch may have written it."

const orElse = <A>(read: Result.Result<A, unknown>, sentence: string): Result.Result<A, string> =>
  Result.mapError(read, () => sentence)

/** The settings of an account as they are written in the table. This does not read the variables and files that they refer to. */
export const readTableAccount = ({ credentials, options }: TableAccount) =>
  orElse(Result.all({ credentials: readCredentials(credentials), options: readOptions(options) }), unreadable)

/** Refuses the daemon's own keys: a person who can write to the table could otherwise have them sent to any address. */
export const isOfDaemon = (reference: Reference) => "env" in reference && /^BERTH_WATCH_/i.test(reference.env)
export const ofDaemon = "Variables that begin with BERTH_WATCH_ are the daemon's own."

/** The content of the variable or file that a reference names. */
const secretAt = (reference: Reference, { file, variable }: Omit<Surroundings, "path">) => {
  if (isOfDaemon(reference)) return Result.fail(ofDaemon)
  const [text, subject] =
    "env" in reference ? [variable(reference.env), reference.env] : [fileText(reference.file, file), reference.file]
  if (text === undefined) return Result.fail(`${subject} ${"env" in reference ? "is not set" : "cannot be read"}.`)
  return text.trim() === "" ? Result.fail(`${subject} is empty.`) : Result.succeed(Redacted.make(text.trim()))
}

const fileText = (path: string, file: Surroundings["file"]) => {
  try {
    return file(path)
  } catch {
    return undefined
  }
}

/** The credentials of an account, or a sentence that says why they are missing. */
export const openCredentials = (
  account: Pick<TableAccount, "name" | "baseUrl">,
  credentials: Credentials,
  surroundings: Omit<Surroundings, "path">
): Result.Result<AccountOptions["connection"]["credentials"], string> => {
  if (!("sealed" in credentials)) {
    return Result.all({
      apiKey: secretAt(credentials.apiKey, surroundings),
      accessToken: secretAt(credentials.accessToken, surroundings)
    })
  }
  return readSealKeys(surroundings.variable).pipe(
    Result.flatMap((keys) => unseal(keys, about(account), credentials)),
    Result.flatMap((text) => orElse(readPlain(Redacted.value(text)), unreadable)),
    Result.map(({ accessToken, apiKey }) => ({
      apiKey: Redacted.make(apiKey),
      accessToken: Redacted.make(accessToken)
    }))
  )
}

/** Why a connection cannot be used, as a sentence; null if it can. */
export const problemSentence = (
  connection: AccountOptions["connection"],
  allowHttp: boolean,
  baseUrl = "The base URL"
): string | null => {
  const problem = connectionProblem(connection, allowHttp)
  if (problem === null) return null
  const words: Readonly<Record<string, string>> = {
    baseUrl,
    apiKey: "The API key",
    accessToken: "The access token",
    project: "The project",
    location: "The location",
    userAgent: variables.userAgent
  }
  return `${words[problem.option]} ${problem.why.replace("allowHttp: true", "--allow-http")}.`
}

/** The account in the form of a config's account, or a sentence that says why this process cannot watch it. */
export const resolveAccount = (
  account: TableAccount,
  surroundings: Omit<Surroundings, "path">
): Result.Result<AccountOptions, string> =>
  Result.gen(function* () {
    const { credentials: stated, options } = yield* readTableAccount(account)
    const credentials = yield* openCredentials(account, stated, surroundings)
    const { allowHttp, location, project, ...rest } = options
    const { baseUrl } = account
    const connection = { baseUrl, credentials, project, location, ...userAgentOf(null, surroundings) }
    const problem = problemSentence(connection, allowHttp)
    if (problem !== null) return yield* Result.fail(problem)
    return { name: account.name, connection, ...rest, budget: null, forgottenMillis: null }
  })
