/**
 * Reads the profile in the file that a flag names. It loads the schema of a profile on demand: most runs of the mock have no
 * profile, and loading the schema would slow their start.
 */
import { readFlagFile, StartFailure } from "@berthkit/terminal/StartFailure"
import { Effect } from "effect"

export const readProfileFile = Effect.fnUntraced(function* (flag: string, file: string, maxBytes?: number) {
  const { readProfile } = yield* Effect.promise(() => import("./Profile.ts"))
  const read = readProfile(yield* readFlagFile(flag, file, maxBytes))
  return yield* Effect.mapError(
    Effect.fromResult(read),
    (sentence) => new StartFailure({ message: `${flag}: cannot use ${file}: ${sentence}` })
  )
})
