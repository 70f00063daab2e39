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
import {
  type Connection,
  connectionOf,
  type ConnectionSettings,
  SettingFault,
  type Sourced
} from "@berth/terminal/Connection"
import { type Duration, Effect, Layer, Option } from "effect"
import { CommitmentLog } from "../commitmentLog/CommitmentLog.ts"
import { IndexStore } from "../nodeIndex/IndexStore.ts"
import { Progress } from "../output/progress.ts"
import { accountSettings } from "./account.ts"
import { spans, transport } from "./transport.ts"

/** How to set what is missing, as the end of a hint. */
const loginHint = ", or run: berth auth login"

/** The connection of these settings, each call of which has their deadline. */
export const connectionFor = Effect.fnUntraced(function* (
  settings: ConnectionSettings & { readonly deadline: Option.Option<Sourced<Duration.Duration>> }
) {
  const { files, options } = yield* connectionOf(settings, loginHint)
  const deadline = Option.getOrUndefined(Option.map(settings.deadline, ({ value }) => value))
  return { files, options: { ...options, ...(deadline && { deadline }) } }
})

/** The connection that the settings name. */
export const connection = Effect.flatMap(accountSettings, connectionFor)

/** The client of a connection. */
export const clientOf = ({ files, options }: Connection) =>
  Progress.painting.pipe(
    Layer.provideMerge(Berth.layerOver(options, transport, Progress.observing)),
    Layer.provideMerge(Progress.layer),
    // `readConnection` has checked the options.
    Layer.orDie,
    Layer.provide(files.pages === undefined ? Layer.empty : PageFile.layer(files.pages)),
    Layer.merge(spans),
    Layer.merge(CommitmentLog.layer(files.commitments)),
    Layer.merge(Layer.unwrap(Effect.map(Effect.orDie(accountCacheFolder(options)), IndexStore.layer)))
  )

export const client = Layer.unwrap(Effect.map(connection, clientOf))

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
  Layer.unwrap(Effect.map(connection, (found) => Layer.provideMerge(clientOf(found), intents(found, key))))
