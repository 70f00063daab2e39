/**
 * The files of one account that the processes of one user on one machine share, found through the program's configuration: their
 * paths, and all of them as a layer.
 */
import { ConfigProvider, Effect, Layer, Option } from "effect"
import { type AccountFiles, accountFilesOf, cacheFolderOf, layerOf, type ReadVariable } from "./AccountFolder.ts"
import { IntentStore, makeMemory } from "./creation/IntentStore.ts"
import { type StateDirectory, stateDirectoryFault } from "./StateDirectory.ts"
import { type ClientOptions, InvalidOption, settingsFrom } from "./options/Settings.ts"

export type { AccountFiles } from "./AccountFolder.ts"
export type { IntentPlace } from "./creation/IntentPlace.ts"
export type { StateDirectory } from "./StateDirectory.ts"

/** What names an account. */
type AccountOptions = Pick<ClientOptions, "baseUrl" | "credentials" | "account" | "project" | "location">

/** A variable of the environment; blank counts as unset. Not by `Config`, whose schemas take longer than the files. */
const read: ReadVariable = (name) =>
  Effect.flatMap(ConfigProvider.ConfigProvider, (provider) =>
    Effect.map(Effect.orDie(provider.load([name])), (found) => found?.value?.trim() || undefined)
  )

/**
 * The files of the account that the options name, in the folder of `berth`; none, with a warning in the log, where there is no
 * such folder. `BERTH_ALLOWANCE_FILE` may name another file for the allowance, or be `off`.
 */
export const accountFiles = Effect.fnUntraced(function* (
  options: AccountOptions
): Effect.fn.Return<AccountFiles, InvalidOption> {
  const settings = yield* Effect.fromResult(settingsFrom(options))
  const { allowanceFile, folder, intents } = yield* accountFilesOf(settings, read)
  return { allowanceFile, folder, intents }
})

/** The folder for what a program keeps of this account and can read again; none where the user has no folder. */
export const accountCacheFolder = Effect.fnUntraced(function* (
  options: AccountOptions
): Effect.fn.Return<Option.Option<string>, InvalidOption> {
  const settings = yield* Effect.fromResult(settingsFrom(options))
  return yield* Effect.option(cacheFolderOf(settings, read))
})

/**
 * All of them for a client of these options: `Layer.provide(Berth.layer(options), accountLayer(options))`. Creates may then
 * have a key, and all processes that share the folder leave room for each other. Default: the folder of `berth`.
 */
export const accountLayer = (
  options: AccountOptions,
  stateDirectory: StateDirectory = "auto"
): Layer.Layer<never, InvalidOption> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const detail = stateDirectoryFault(stateDirectory)
      if (detail !== undefined) return yield* new InvalidOption({ option: "stateDirectory", detail })
      if (stateDirectory === "memory") return Layer.sync(IntentStore, makeMemory)
      return layerOf(yield* Effect.fromResult(settingsFrom(options)), stateDirectory, read)
    })
  )
