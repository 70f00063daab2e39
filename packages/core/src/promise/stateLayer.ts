/**
 * The state directory and the allowance file of a client. What it takes to keep files is loaded when they are used: a page has none, and
 * gets none of that code.
 */
import { Effect, Layer } from "effect"
import { IntentStore, makeMemory, withoutFolder } from "../client/creation/IntentStore.ts"
import type { Settings } from "../client/options/Settings.ts"
import type { StateDirectory } from "../client/StateDirectory.ts"
import { readVariable } from "./fromEnvironment.ts"

const noFiles = "this runtime has no files"

const unshared = (path: string) =>
  Effect.logWarning(`Cannot share the allowance through ${path} (${noFiles}): this client goes by its own replies.`)

/** Gives a client of these settings its state; without a directory no intents are kept. */
export const stateLayer = (settings: Settings, directory: StateDirectory | undefined): Layer.Layer<never> => {
  const isInFolder = directory !== undefined && directory !== "memory"
  const intents = directory === "memory" ? Layer.sync(IntentStore, makeMemory) : Layer.empty
  if (!isInFolder && settings.allowanceFile === undefined) return intents
  return Effect.tryPromise(() => import("../client/AccountFolder.ts")).pipe(
    Effect.match({
      onSuccess: ({ allowanceLayer, layerOf }) =>
        Layer.provideMerge(allowanceLayer(settings), isInFolder ? layerOf(settings, directory, readVariable) : intents),
      onFailure: () =>
        Layer.merge(
          isInFolder ? Layer.succeed(IntentStore, withoutFolder(noFiles)) : intents,
          settings.allowanceFile === undefined ? Layer.empty : Layer.effectDiscard(unshared(settings.allowanceFile))
        )
    }),
    Layer.unwrap
  )
}
