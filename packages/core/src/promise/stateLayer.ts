/**
 * The state directory of a client. The code for files is loaded only if a client uses files. A page has no files, so bundles for pages get
 * `withoutFiles.ts` instead of that code.
 */
import { Effect, Layer } from "effect"
import { IntentStore, makeMemory, withoutFolder } from "../client/creation/IntentStore.ts"
import { builtin } from "../client/options/builtin.ts"
import type { Settings } from "../client/options/Settings.ts"
import type { StateDirectory } from "../client/StateDirectory.ts"
import { readVariable } from "./fromEnvironment.ts"

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
        ? Effect.fail("this program is bundled for browsers, without the code for files")
        : Effect.succeed(module)
    )
  )
})

/** Gives a client of these settings its state; without a directory no intents are kept. */
export const stateLayer = (settings: Settings, directory: StateDirectory | undefined): Layer.Layer<never> => {
  if (directory === undefined) return Layer.empty
  if (directory === "memory") return Layer.sync(IntentStore, makeMemory)
  return loaded.pipe(
    Effect.match({
      onSuccess: ({ layerOf }) =>
        Layer.orDie(layerOf(settings, directory, (name) => Effect.sync(() => readVariable(name)))),
      onFailure: (why) => Layer.succeed(IntentStore, withoutFolder(why))
    }),
    Layer.unwrap
  )
}
