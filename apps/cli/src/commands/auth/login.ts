/**
 * `berth auth login`: proves credentials with one cheap call, and saves them as a profile.
 */
import { accountFiles, type AccountFiles } from "@berthkit/core/client/AccountFiles"
import { goOnIn } from "@berthkit/core/client/creation/IntentPlace"
import { Nodes } from "@berthkit/core/client/Nodes"
import { allowHttpSetting, type Credential, ensurePrivate, type Sourced } from "@berthkit/terminal/Connection"
import { Effect, Option, type Redacted } from "effect"
import { command } from "../command.ts"
import { UsageFault } from "../../failure/CliFailure.ts"
import { printNote } from "../../output/Output.ts"
import { printOne } from "../../output/print.ts"
import { askLine, canAsk } from "../../proposal/confirm.ts"
import { profileRecord } from "../../records/account.ts"
import { addressOf, deadlineSetting, profileToSave } from "../../settings/account.ts"
import { clientOf, connectionFor } from "../../settings/client.ts"
import { GlobalSettings } from "../../commandLine/GlobalSettings.ts"
import { ensureProfilesWritable, type ProfileValues, readProfiles, writeProfiles } from "../../settings/ProfileFile.ts"
import { nothingSaved, readSecrets } from "./readSecrets.ts"

/** The service's address: as it is set, or asked for. */
const address = Effect.fnUntraced(function* (set: Option.Option<Sourced<string>>) {
  if (Option.isSome(set)) return set.value
  if (yield* canAsk) {
    const typed = yield* askLine("Address of the service (https://HOST):", nothingSaved)
    if (typed !== "") return { value: typed, source: "the address" }
  }
  return yield* new UsageFault({
    message: "The address of the service is not known.",
    hint: "Add --base-url https://HOST, or set BERTH_BASE_URL."
  })
})

/** Lets the new API key go on with the creates of the old one, so that a key of a create in use keeps its node. */
const goOnWithIntents = (before: AccountFiles, after: AccountFiles) =>
  before.intents === undefined || after.intents === undefined
    ? Effect.succeed(false)
    : Effect.catch(goOnIn(after.intents, before.intents), ({ message }) =>
        Effect.as(Effect.logWarning(`Keys of earlier creates are not carried over: ${message}.`), false)
      )

/** Fails where a login to another service would replace a profile that the command line does not name. */
const ensureNotAnother = Effect.fnUntraced(function* (
  name: string,
  before: ProfileValues | undefined,
  address: string
) {
  if (before === undefined || (yield* GlobalSettings).profile !== undefined) return
  const [saved, wanted] = [before.baseUrl, address].map((each) => URL.parse(each)?.origin)
  if (saved === wanted) return
  return yield* new UsageFault({
    message: `Profile ${name} belongs to ${saved}, and this login is for ${wanted}.`,
    hint: `Add --profile NAME to save it as another profile, or --profile ${name} to replace ${name}.`
  })
})

const optionsOf = ({ accessToken, apiKey, baseUrl }: ProfileValues) => ({
  baseUrl,
  credentials: { apiKey, accessToken }
})

export const login = command(
  {},
  Effect.fnUntraced(function* () {
    const profiles = yield* readProfiles
    yield* ensureProfilesWritable
    const deadline = yield* deadlineSetting
    const name = yield* profileToSave(profiles)
    const before = profiles.profiles.get(name)
    const baseUrl = yield* address(yield* addressOf(before))
    yield* ensureNotAnother(name, before, baseUrl.value)
    const allowHttp = yield* allowHttpSetting((yield* GlobalSettings).allowHttp)
    yield* ensurePrivate(baseUrl, allowHttp)
    if (yield* canAsk) yield* printNote(`Logging in to ${baseUrl.value} as profile ${name}.`)
    const secrets = yield* readSecrets
    const from = (value: Redacted.Redacted): Option.Option<Credential> =>
      Option.some({ value, source: "What was given", belongsTo: baseUrl.value })
    const connection = yield* connectionFor({
      baseUrl: Option.some(baseUrl),
      apiKey: from(secrets.apiKey),
      accessToken: from(secrets.accessToken),
      allowHttp,
      deadline
    })
    yield* Nodes.use((nodes) => nodes.listPage({ page: 1, perPage: 1 })).pipe(Effect.provide(clientOf(connection)))

    const values = { baseUrl: baseUrl.value, ...secrets, further: before?.further }
    let goesOn = false
    if (before !== undefined) {
      const files = yield* Effect.option(accountFiles(optionsOf(before)))
      if (Option.isSome(files)) goesOn = yield* goOnWithIntents(files.value, connection.files)
    }
    const path = yield* writeProfiles({
      ...profiles,
      current: name,
      profiles: new Map(profiles.profiles).set(name, values)
    })
    yield* printNote(`Logged in to ${baseUrl.value} as profile ${name}; saved in ${path}.`)
    if (goesOn) {
      yield* printNote(
        "Idempotency keys of earlier creates stay valid with the new API key; for another account use another profile."
      )
    }
    yield* printOne(profileRecord, { name, current: true, baseUrl: baseUrl.value })
  })
)
