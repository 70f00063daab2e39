/**
 * Locates the folders of an account, which a user's processes on one machine share. They are in the user's state folder, and their names
 * are hashes that reveal neither the service nor the key. The rate limit belongs to an API key. Nodes belong to an API key with a project
 * and location. Creates belong to the account, which may have a name and outlive its key (`creation/IntentPlace.ts`). This module creates
 * no folders; the code that writes into them does. It loads `node:crypto` on first use.
 */
import { Context, Effect, Layer } from "effect"
import * as AllowanceFile from "./allowance/AllowanceFile.ts"
import { AllowanceStore } from "./allowance/AllowanceStore.ts"
import { makeAccount } from "./creation/IntentFolder.ts"
import { folderOf, type IntentPlace } from "./creation/IntentPlace.ts"
import { IntentStore, withoutFolder } from "./creation/IntentStore.ts"
import { builtin } from "./options/builtin.ts"
import type { ReadVariable } from "./options/readVariable.ts"
import { InvalidOption, type Settings } from "./options/Settings.ts"
import { accountIds } from "./files/accountId.ts"
import { FileFault } from "./files/StateFiles.ts"
import { type FolderKind, folderVariables, userFolder } from "./files/userFolder.ts"
import { pathFault } from "./options/pathFault.ts"
import { recordsOf } from "./RecordFolder.ts"
import { ChangeLog } from "./state/ChangeLog.ts"
import { noteChanges } from "./state/noteChanges.ts"
import type { StateDirectory } from "./StateDirectory.ts"

/** Where the shared files are; each is undefined if there is none. */
export interface AccountFiles {
  /** The file for `ClientOptions.allowanceFile`. */
  readonly allowanceFile: string | undefined
  /** The place for `IntentFolder.layerAccount`. */
  readonly intents: IntentPlace | undefined
  /** The folder of the account, shared by all of berth's programs. */
  readonly folder: string | undefined
}

/**
 * The folder of `berth` for state: `$XDG_STATE_HOME/berth`, by default `~/.local/state/berth`, on macOS `~/Library/Application
 * Support/berth`, on Windows `%LOCALAPPDATA%\berth`. For the cache: `$XDG_CACHE_HOME/berth`, `~/.cache/berth`, `~/Library/Caches/berth`,
 * `%LOCALAPPDATA%\berth\Cache`. For the configuration: `$XDG_CONFIG_HOME/berth`, `~/.config/berth`, on macOS the folder of the state,
 * `%APPDATA%\berth`. Fails with the reason if there is no such folder.
 */
export const berthFolder = Effect.fnUntraced(function* (
  read: ReadVariable,
  platform: string | undefined = globalThis.process?.platform,
  kind: FolderKind = "state"
): Effect.fn.Return<string, FileFault> {
  const variables = folderVariables(kind, platform)
  const folder = userFolder(kind, platform, yield* Effect.forEach(variables, read))
  return folder ?? (yield* new FileFault({ message: `${variables.at(-1)} is not set` }))
})

/** The folders of an account. */
interface Account {
  /** The folder of the API key, for its rate limit. */
  readonly keyFolder: string
  /** The folder of the API key with its project and location, for its nodes. */
  readonly folder: string
  readonly intents: IntentPlace
}

/** The account's folders in berth's folder, or in another one. */
const accountIn = Effect.fnUntraced(function* (settings: Settings, base: string): Effect.fn.Return<Account, FileFault> {
  const { ofKey, ofName, ofPlace, origin } = yield* accountIds(settings)
  // Resolve the path now, because the program may change its working directory later.
  const accounts = `${builtin("node:path")!.resolve(base)}/accounts`
  return {
    keyFolder: `${accounts}/${ofKey}`,
    folder: `${accounts}/${ofPlace}`,
    intents: { accounts, origin, id: ofName ?? ofPlace, key: ofName === undefined ? undefined : ofPlace }
  }
})

/** The files of the account, or why there are none. */
const filesIn = (account: Effect.Effect<Account, FileFault>) =>
  Effect.match(account, {
    onSuccess: ({ folder, intents, keyFolder }): AccountFiles & { readonly why: string } => ({
      allowanceFile: `${keyFolder}/allowance.json`,
      intents,
      folder,
      why: ""
    }),
    onFailure: ({ message: why }) => ({
      allowanceFile: undefined,
      intents: undefined,
      folder: undefined,
      why
    })
  })

/**
 * The account's files in berth's folder. `BERTH_ALLOWANCE_FILE` may name another allowance file or be `off`. Fails if its value is not a
 * path.
 */
export const accountFilesOf = Effect.fnUntraced(function* (settings: Settings, read: ReadVariable) {
  const choice = yield* read("BERTH_ALLOWANCE_FILE")
  const fault = choice === undefined ? undefined : pathFault(choice, "the path of a file")
  if (fault !== undefined) return yield* new InvalidOption({ option: "BERTH_ALLOWANCE_FILE", detail: fault })
  const ofKey = yield* filesIn(Effect.flatMap(berthFolder(read), (folder) => accountIn(settings, folder)))
  const { folder, intents } = ofKey
  const files =
    intents === undefined ? ofKey : { ...ofKey, folder: yield* Effect.orElseSucceed(folderOf(intents), () => folder) }
  if (choice !== undefined) return { ...files, allowanceFile: choice === "off" ? undefined : choice }
  if (files.why !== "") {
    yield* Effect.logWarning(`There is no state folder (${files.why}): this client relies only on its own replies.`)
  }
  return files
})

/** The account's cache folder. */
export const cacheFolderOf = (settings: Settings, read: ReadVariable) =>
  Effect.flatMap(berthFolder(read, undefined, "cache"), (base) =>
    Effect.map(accountIn(settings, base), ({ folder }) => folder)
  )

/** The intent store (records of creates) in a folder. A create without a key that cannot be recorded continues, with one warning. */
const intentsIn = (place: IntentPlace): IntentStore => {
  const store = makeAccount(place)
  let warned = false
  return {
    ...store,
    save: (intent) =>
      Effect.tapError(store.save(intent), ({ detail }) =>
        Effect.suspend(() => {
          if (warned) return Effect.void
          warned = true
          return Effect.logWarning(`Creates are not recorded: ${detail}.`)
        })
      )
  }
}

/**
 * Gives a client of these settings the named folder, or berth's. A problem with the folder shows only at its first use, as a failure or a
 * warning.
 */
export const layerOf = (
  settings: Settings,
  directory: Exclude<StateDirectory, "memory">,
  read: ReadVariable
): Layer.Layer<never, InvalidOption> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const { allowanceFile, intents, why } = yield* directory === "auto"
        ? accountFilesOf(settings, read)
        : filesIn(accountIn(settings, directory))
      const allowance = allowanceFile === undefined ? undefined : AllowanceFile.make(allowanceFile)
      const stores = Context.make(AllowanceStore, allowance)
      if (intents === undefined) return Context.add(stores, IntentStore, withoutFolder(why))
      return stores.pipe(
        Context.add(IntentStore, intentsIn(intents)),
        Context.add(ChangeLog, yield* noteChanges(recordsOf(intents), read))
      )
    })
  )
