/**
 * The profile in a file that a flag names. The schema of a profile is loaded on demand: it takes a program that has no profile as
 * long to load as it takes to read one.
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
