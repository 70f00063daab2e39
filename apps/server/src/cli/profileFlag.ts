/**
 * The profile that `--profile` names.
 */
import { Effect, Option, Result } from "effect"
import type { Profile } from "../profile/Profile.ts"
import { readFlagFile, StartFailure } from "./StartFailure.ts"

/** Undefined where none is named. */
export const readProfileFlag = Effect.fnUntraced(function* (file: Option.Option<string>) {
  if (Option.isNone(file)) return undefined
  // Its schema takes a server that has no profile as long to load as it takes to read one.
  const { readProfile } = yield* Effect.promise(() => import("../profile/Profile.ts"))
  const read = readProfile(yield* readFlagFile("--profile", file.value))
  if (Result.isFailure(read)) {
    return yield* new StartFailure({ message: `--profile: cannot use ${file.value}: ${read.failure}` })
  }
  const profile: Profile = read.success
  return profile
})
