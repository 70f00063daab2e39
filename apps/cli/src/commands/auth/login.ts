/**
 * `berth auth login`: checks credentials with one cheap call and saves them as a profile. They come from a prompt without echo, or from
 * stdin, one per line. They never come from a flag, because every user of the machine can read command lines, and shells store them.
 */
import { accountFiles, type AccountFiles } from "@berthkit/core/client/AccountFiles"
import { Nodes } from "@berthkit/core/client/Nodes"
import { goOnIn } from "@berthkit/core/client/creation/IntentPlace"
import { allowHttpSetting, type Credential, ensurePrivate, type Sourced } from "@berthkit/terminal/Connection"
import { Effect, Exit, Option, Queue, Redacted, Stdio, Stream, Terminal } from "effect"
import { Interrupted, UsageFault } from "../../failure/CliFailure.ts"
import { Output, printNote } from "../../output/Output.ts"
import { askLine, canAsk } from "../../proposal/confirm.ts"
import { command } from "../command.ts"
import { printOne } from "../../output/print.ts"
import { profileOf, profileRecord } from "../../records/account.ts"
import {
  addressOf,
  deadlineSetting,
  placeToSave,
  profileToSave,
  stateUrlToSave,
  userAgentToSave
} from "../../settings/account.ts"
import { clientOf, connectionFor } from "../../settings/client.ts"
import { notedPlaces } from "../../settings/places.ts"
import { GlobalSettings } from "../../commandLine/Parameter.ts"
import { ensureProfilesWritable, type ProfileValues, readProfiles, writeProfiles } from "../../settings/ProfileFile.ts"

/** Maximum length of an input line. Credentials are far shorter. */
const maxInputLength = 64 * 1024

const missing = (what: string) =>
  new UsageFault({
    message: `${what} is missing.`,
    hint: "Pipe in the API key and the access token, one per line, or run berth auth login at a terminal."
  })

const nothingSaved = "Nothing was saved."

/** Reads a typed line. The echo is already off when the question appears. */
const typed = Effect.fnUntraced(function* (question: string) {
  const { ask, note } = yield* Output
  const terminal = yield* Terminal.Terminal
  const input = yield* terminal.readInput
  yield* Effect.addFinalizer((exit) => (Exit.hasInterrupts(exit) ? note(`\n${nothingSaved}`) : Effect.void))
  yield* ask(question)
  let text = ""
  for (;;) {
    const pressed = yield* Effect.option(Queue.take(input))
    if (Option.isNone(pressed)) break
    const { input: character, key } = pressed.value
    if (key.ctrl && (key.name === "c" || key.name === "d")) break
    if (key.name === "return" || key.name === "enter") {
      yield* ask("\n")
      return text
    }
    if (key.name === "backspace") text = text.slice(0, -1)
    else if (!key.ctrl && !key.meta && text.length < maxInputLength) text += Option.getOrElse(character, () => "")
  }
  yield* ask("\n")
  return yield* new Interrupted({ message: nothingSaved, hint: "" })
}, Effect.scoped)

/** Reads the lines of stdin. */
const pipedLines = Effect.gen(function* () {
  const { stdin } = yield* Stdio.Stdio
  const text = yield* Stream.mkString(Stream.take(Stream.decodeText(stdin), maxInputLength)).pipe(
    Effect.orElseSucceed(() => "")
  )
  return text.split("\n").map((line) => line.trim())
})

/** Reads both credentials. */
const readSecrets = Effect.gen(function* () {
  const [apiKey = "", accessToken = ""] = (yield* canAsk)
    ? [yield* typed("API key: "), yield* typed("Access token: ")]
    : yield* pipedLines
  if (apiKey === "") return yield* missing("The API key")
  if (accessToken === "") return yield* missing("The access token")
  return { apiKey: Redacted.make(apiKey.trim()), accessToken: Redacted.make(accessToken.trim()) }
})

/** The service's address from the settings. If they have none, asks the user. */
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

/**
 * Lets the new API key take over the creates of the old API key in one project and location. The idempotency keys of these creates then
 * still belong to their nodes.
 */
const goOnWithIntents = (before: AccountFiles, after: AccountFiles) =>
  before.intents === undefined || after.intents === undefined
    ? Effect.succeed(false)
    : goOnIn(after.intents, before.intents)

/**
 * Takes over the creates in the profile's project and location, and in every other place in which this machine has
 * created nodes.
 */
const goOnEverywhere = Effect.fnUntraced(
  function* (before: ProfileValues, after: ProfileValues) {
    const filesOf = (values: ProfileValues) => accountFiles(optionsOf(values))
    const { intents } = yield* filesOf(before)
    if (intents === undefined) return false
    let goesOn = yield* goOnWithIntents(yield* filesOf(before), yield* filesOf(after))
    const noted = yield* Effect.orElseSucceed(notedPlaces(intents.accounts), () => ({ places: [], unreadable: [] }))
    for (const path of noted.unreadable) {
      yield* Effect.logWarning(
        `${path} cannot be read: keys of creates in that project and location are not carried over.`
      )
    }
    for (const place of noted.places) {
      const isDone = yield* goOnWithIntents(
        yield* filesOf({ ...before, ...place }),
        yield* filesOf({ ...after, ...place })
      )
      goesOn ||= isDone
    }
    return goesOn
  },
  Effect.catch(({ message }) =>
    Effect.as(Effect.logWarning(`Keys of earlier creates are not carried over: ${message}.`), false)
  )
)

/** Fails if a login to another service would replace a profile that the command line does not name. */
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

const optionsOf = ({ accessToken, apiKey, baseUrl, location, project }: ProfileValues) => ({
  baseUrl,
  credentials: { apiKey, accessToken },
  project,
  location
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
    const place = yield* placeToSave(before)
    const stateUrl = yield* stateUrlToSave(before)
    const secrets = yield* readSecrets
    const from = (value: Redacted.Redacted): Option.Option<Credential> =>
      Option.some({ value, source: "What was given", belongsTo: baseUrl.value })
    const connection = yield* connectionFor({
      baseUrl: Option.some(baseUrl),
      apiKey: from(secrets.apiKey),
      accessToken: from(secrets.accessToken),
      allowHttp,
      userAgent: yield* userAgentToSave(before),
      stateUrl,
      ...place,
      deadline
    })
    yield* Nodes.use((nodes) => nodes.listPage({ page: 1, perPage: 1 })).pipe(Effect.provide(clientOf(connection)))

    const { location, project, userAgent } = connection.options
    const values = {
      baseUrl: baseUrl.value,
      ...secrets,
      project,
      location,
      userAgent,
      stateUrl: Option.getOrUndefined(stateUrl)?.value,
      further: before?.further
    }
    const goesOn = before !== undefined && (yield* goOnEverywhere(before, values))
    const path = yield* writeProfiles({
      ...profiles,
      current: name,
      profiles: new Map(profiles.profiles).set(name, values)
    })
    const where = project === undefined ? "" : `, project ${project} in ${location}`
    yield* printNote(`Logged in to ${baseUrl.value}${where} as profile ${name}; saved in ${path}.`)
    if (goesOn) {
      yield* printNote(
        "Idempotency keys of earlier creates stay valid with the new API key; for another account use another profile."
      )
    }
    yield* printOne(profileRecord, profileOf(name, values, true))
  })
)
