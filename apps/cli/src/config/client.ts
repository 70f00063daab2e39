/**
 * The client for the account that the settings name. A command that talks to the service provides itself with it, so that
 * `berth --help` needs no settings. What the client shares with other processes of this machine is in the user's state
 * folder; where there can be none, berth goes without it and says so only with `--debug`: nobody asked for it.
 */
import { type AccountFiles, accountFiles } from "@berth/core/client/AccountFiles"
import { ownLevels } from "@berth/core/client/AccountFolder"
import * as Berth from "@berth/core/client/Berth"
import { layerDirectory } from "@berth/core/client/creation/IntentFolder"
import { IntentStore, makeMemory } from "@berth/core/client/creation/IntentStore"
import * as PageFile from "@berth/core/client/listing/PageFile"
import type { ClientOptions, InvalidOption } from "@berth/core/client/options/Settings"
import { Config, Effect, Layer, Logger, Option } from "effect"
import { SettingFault } from "../failure/CliFailure.ts"
import { Output, say } from "../output/Output.ts"
import { credentials, variables } from "./credentials.ts"
import { BaseUrl, Debug } from "./globalFlags.ts"
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

/** What the client warns of is data for nobody: it is told with `--debug`, and never on stdout. */
const warnings = Layer.unwrap(
  Effect.gen(function* () {
    const output = yield* Output
    const tell = Logger.make(({ message }) => {
      Effect.runFork(Effect.provideService(say(`debug: ${String(message)}`), Output, output))
    })
    return Logger.layer((yield* Debug) ? [tell] : [])
  })
)

interface Account {
  readonly options: ClientOptions
  readonly files: AccountFiles
}

const account = Effect.gen(function* () {
  const { address, setting } = yield* baseUrl
  const options = { baseUrl: address, credentials: yield* credentials }
  const files = yield* Effect.mapError(accountFiles(options), (error) => unusable(error, setting))
  return { options: { ...options, allowanceFile: files.allowanceFile }, files } satisfies Account
})

const clientOf = ({ files, options }: Account) =>
  Berth.layerOver(options, transport).pipe(
    // Whatever is not usable in them was reported when the files were looked for.
    Layer.orDie,
    Layer.provide(files.pages === undefined ? Layer.empty : PageFile.layer(files.pages)),
    Layer.merge(spans)
  )

export const client = Layer.provide(Layer.unwrap(Effect.map(account, clientOf)), warnings)

/** A key is worth nothing where it cannot be kept. */
const notKept = (why: string) =>
  new SettingFault({
    setting: "XDG_STATE_HOME",
    secret: false,
    message: `The key cannot be kept: ${why.replace(/\.$/, "")}.`,
    hint: "Set XDG_STATE_HOME to a folder that can be written, or leave out --key."
  })

/** Where creates are written down. Without a key that is a courtesy, and berth goes without where it cannot be had. */
const intents = ({ files }: Account, key: Option.Option<string>) => {
  const without = (why: string) =>
    Option.isSome(key)
      ? Layer.effect(IntentStore, notKept(why))
      : Layer.effect(IntentStore, Effect.as(Effect.logWarning(`Creates are not written down: ${why}`), makeMemory()))
  return files.intents === undefined
    ? without("there is no home folder")
    : Layer.catch(layerDirectory(files.intents, ownLevels), ({ detail }) => without(detail))
}

/** The client of a command that creates: what it is about to send is written down, for whoever asks again after a crash. */
export const creatingClient = (key: Option.Option<string>) =>
  Layer.unwrap(Effect.map(account, (found) => Layer.provideMerge(clientOf(found), intents(found, key)))).pipe(
    Layer.provide(warnings)
  )
