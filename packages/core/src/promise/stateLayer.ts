/**
 * The state directory and the allowance file of a client. The code for files is loaded when they are used. A page has no files, so
 * bundles for pages get `withoutFiles.ts` instead of that code.
 */
import { Effect, Layer } from "effect"
import { IntentStore, makeMemory, withoutFolder } from "../client/creation/IntentStore.ts"
import { builtin } from "../client/options/builtin.ts"
import type { Settings } from "../client/options/Settings.ts"
import type { StateDirectory } from "../client/StateDirectory.ts"
import { readVariable } from "./fromEnvironment.ts"

const unshared = (path: string, why: string) =>
  Effect.logWarning(`Cannot share the allowance through ${path} (${why}): this client goes by its own replies.`)

type AccountFolder = typeof import("../client/AccountFolder.ts") | typeof import("./withoutFiles.ts")

/** The code for files; fails with the reason if this program cannot keep files. */
const loaded = Effect.suspend((): Effect.Effect<typeof import("../client/AccountFolder.ts"), string> => {
  if (builtin("node:fs") === undefined) return Effect.fail("this runtime has no files")
  return Effect.tryPromise({
    try: (): Promise<AccountFolder> => import("../client/AccountFolder.ts"),
    catch: (error) => `the code for files cannot be loaded: ${String(error)}`
  }).pipe(
    Effect.flatMap((module) =>
      module.layerOf === undefined
        ? Effect.fail("this program is bundled for browsers, without the code for files; bundle it for Node")
        : Effect.succeed(module)
    )
  )
})

/** Gives a client of these settings its state; without a directory no intents are kept. */
export const stateLayer = (settings: Settings, directory: StateDirectory | undefined): Layer.Layer<never> => {
  const isInFolder = directory !== undefined && directory !== "memory"
  const intents = directory === "memory" ? Layer.sync(IntentStore, makeMemory) : Layer.empty
  if (!isInFolder && settings.allowanceFile === undefined) return intents
  return loaded.pipe(
    Effect.match({
      onSuccess: ({ allowanceLayer, layerOf }) =>
        Layer.provideMerge(
          allowanceLayer(settings),
          isInFolder ? Layer.orDie(layerOf(settings, directory, readVariable)) : intents
        ),
      onFailure: (why) =>
        Layer.merge(
          isInFolder ? Layer.succeed(IntentStore, withoutFolder(why)) : intents,
          settings.allowanceFile === undefined
            ? Layer.empty
            : Layer.effectDiscard(unshared(settings.allowanceFile, why))
        )
    }),
    Layer.unwrap
  )
}
