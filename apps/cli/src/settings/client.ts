/**
 * The client for the account that the settings name. A command that talks to the service provides itself with it, so that
 * `berth --help` needs no settings. The files that the client shares with other processes of this machine are in the user's
 * state folder; where there is none, berth does without them and reports it with `--debug` only.
 */
import { accountCacheFolder } from "@berth/core/client/AccountFiles"
import { ownLevels } from "@berth/core/client/AccountFolder"
import * as Berth from "@berth/core/client/Berth"
import { layerDirectory } from "@berth/core/client/creation/IntentFolder"
import { IntentStore, makeMemory } from "@berth/core/client/creation/IntentStore"
import * as PageFile from "@berth/core/client/listing/PageFile"
import { type Connection, readConnection, SettingFault } from "@berth/terminal/Connection"
import { Effect, Layer, Logger, Option } from "effect"
import { IndexStore } from "../nodeIndex/IndexStore.ts"
import { Output, printNote } from "../output/Output.ts"
import { Progress } from "../output/progress.ts"
import { BaseUrl, Debug } from "./globalFlags.ts"
import { spans, transport } from "./transport.ts"

/** The client's warnings are no data: they go to stderr, with `--debug`. */
const warnings = Layer.unwrap(
  Effect.gen(function* () {
    const output = yield* Output
    const debugLine = Logger.make(({ message }) => {
      Effect.runFork(Effect.provideService(printNote(`debug: ${String(message)}`), Output, output))
    })
    return Logger.layer((yield* Debug) ? [debugLine] : [])
  })
)

const connection = Effect.flatMap(BaseUrl, readConnection)

const clientOf = ({ files, options }: Connection) =>
  Progress.painting.pipe(
    Layer.provideMerge(Berth.layerOver(options, transport, Progress.observing)),
    Layer.provideMerge(Progress.layer),
    // `readConnection` has checked the options.
    Layer.orDie,
    Layer.provide(files.pages === undefined ? Layer.empty : PageFile.layer(files.pages)),
    Layer.merge(spans),
    Layer.merge(Layer.unwrap(Effect.map(Effect.orDie(accountCacheFolder(options)), IndexStore.layer)))
  )

export const client = Layer.provide(Layer.unwrap(Effect.map(connection, clientOf)), warnings)

/** A key is worth nothing where it cannot be kept. */
const notKept = (why: string) =>
  new SettingFault({
    setting: "XDG_STATE_HOME",
    exit: "usage",
    message: `The key cannot be kept: ${why.replace(/\.$/, "")}.`,
    hint: "Set XDG_STATE_HOME to a folder that can be written, or omit --key."
  })

/** Where creates are recorded. A create without a key does without where that is not possible. */
const intents = ({ files }: Connection, key: Option.Option<string>) => {
  const without = (why: string) =>
    Option.isSome(key)
      ? Layer.effect(IntentStore, notKept(why))
      : Layer.effect(IntentStore, Effect.as(Effect.logWarning(`Creates are not recorded: ${why}`), makeMemory()))
  return files.intents === undefined
    ? without("there is no home folder")
    : Layer.catch(layerDirectory(files.intents, ownLevels), ({ detail }) => without(detail))
}

/** The client of a command that creates. It records each create before it sends it, so that the next run can resume it. */
export const creatingClient = (key: Option.Option<string>) =>
  Layer.unwrap(Effect.map(connection, (found) => Layer.provideMerge(clientOf(found), intents(found, key)))).pipe(
    Layer.provide(warnings)
  )
