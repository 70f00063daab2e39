/**
 * Finds the files of an account and provides them as a layer. A user's processes on one machine share these files. The paths come from
 * the program's configuration.
 */
import { Effect, Layer, Option } from "effect"
import { type AccountFiles, accountFilesOf, cacheFolderOf, layerOf } from "./AccountFolder.ts"
import { IntentStore, makeMemory } from "./creation/IntentStore.ts"
import { type StateDirectory, stateDirectoryFault } from "./StateDirectory.ts"
import { readVariable as read } from "./options/readVariable.ts"
import { type ClientOptions, InvalidOption, settingsFrom } from "./options/Settings.ts"

export type { AccountFiles } from "./AccountFolder.ts"
export type { IntentPlace } from "./creation/IntentPlace.ts"
export type { StateDirectory } from "./StateDirectory.ts"

/** The options that identify an account. */
type AccountOptions = Pick<ClientOptions, "baseUrl" | "credentials" | "account" | "project" | "location">

/**
 * The files of the options' account in berth's folder. If there is no such folder, logs a warning and returns none.
 * `BERTH_ALLOWANCE_FILE` may name another allowance file or be `off`.
 */
export const accountFiles = Effect.fnUntraced(function* (
  options: AccountOptions
): Effect.fn.Return<AccountFiles, InvalidOption> {
  const settings = yield* Effect.fromResult(settingsFrom(options))
  const { allowanceFile, folder, intents } = yield* accountFilesOf(settings, read)
  return { allowanceFile, folder, intents }
})

/** The account's cache folder; none if the user has no folder. */
export const accountCacheFolder = Effect.fnUntraced(function* (
  options: AccountOptions
): Effect.fn.Return<Option.Option<string>, InvalidOption> {
  const settings = yield* Effect.fromResult(settingsFrom(options))
  return yield* Effect.option(cacheFolderOf(settings, read))
})

/**
 * All files as a layer for a client of these options: `Layer.provide(Berth.layer(options), accountLayer(options))`.
 * With these files, creates may have idempotency keys, processes that use the same folder share the rate limit, and
 * `berth history` shows changes. Default: berth's folder.
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
