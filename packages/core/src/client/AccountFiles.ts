/**
 * Where the processes of one user on one machine keep what they share of one account: a folder in the user's state folder,
 * named by a hash, so that neither the service nor the key can be read from it. Nothing is made here; whoever writes makes
 * it. Works where there is `node:crypto`, which is loaded when it is used.
 */
import { Config, Effect, Option, Redacted } from "effect"
import * as UserDirectories from "effect/persistence/UserDirectories"
import { type ClientOptions, type InvalidOption, settingsFrom } from "./Settings.ts"

export interface AccountFiles {
  /**
   * For `ClientOptions.allowanceFile`: the file that `BERTH_ALLOWANCE_FILE` names, else one in the account's folder. None
   * where the variable says `off`; none, with a warning in the log, where there is no such folder.
   */
  readonly allowanceFile: string | undefined
  /** For `IntentStore.layerDirectory`: a folder in the account's. None where there is no such folder. */
  readonly intents: string | undefined
  /** For `PageFile.layer`: a file in the account's folder. None where there is no such folder. */
  readonly pages: string | undefined
}

/**
 * The account's folder: below `$XDG_STATE_HOME/berth`, by default `~/.local/state/berth`, on macOS
 * `~/Library/Application Support/berth`, on Windows `%LOCALAPPDATA%\berth`. Fails with why there can be none.
 */
const folderOf = Effect.fnUntraced(function* (origin: string, apiKey: Redacted.Redacted) {
  const state = yield* UserDirectories.make().state("berth")
  const { createHash } = yield* Effect.tryPromise(() => import("node:crypto"))
  const hash = createHash("sha256").update(JSON.stringify([origin, Redacted.value(apiKey)]))
  // 128 bits: no two accounts of one user ever meet.
  return `${state}/accounts/${hash.digest("hex").slice(0, 32)}`
})

/** The environment's word on the allowance file; blank is none. */
const chosen = Config.option(Config.String("BERTH_ALLOWANCE_FILE")).pipe(
  Effect.orDie,
  Effect.map(Option.map((text) => text.trim())),
  Effect.map(Option.filter((text) => text !== ""))
)

/** The files of the account that the options name. */
export const accountFiles = Effect.fnUntraced(function* (
  options: Pick<ClientOptions, "baseUrl" | "credentials">
): Effect.fn.Return<AccountFiles, InvalidOption> {
  const { credentials, origin } = yield* Effect.fromResult(settingsFrom(options))
  const folder = yield* Effect.result(folderOf(origin, credentials.apiKey))
  const intents = folder._tag === "Success" ? `${folder.success}/intents` : undefined
  const pages = folder._tag === "Success" ? `${folder.success}/pages.json` : undefined
  const choice = yield* chosen
  if (Option.isSome(choice)) return { allowanceFile: choice.value === "off" ? undefined : choice.value, intents, pages }
  if (folder._tag === "Success") return { allowanceFile: `${folder.success}/allowance.json`, intents, pages }
  yield* Effect.logWarning(`There is no state folder (${folder.failure.message}): this client goes by its own replies.`)
  return { allowanceFile: undefined, intents, pages }
})
