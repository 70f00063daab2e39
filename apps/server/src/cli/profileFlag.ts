/**
 * The profile that `--profile` names.
 */
import { Effect, Option, Result } from "effect"
import { type Profile, readProfile } from "../profile/Profile.ts"
import { readFlagFile, StartFailure } from "./StartFailure.ts"

/** Undefined where none is named. */
export const readProfileFlag = Effect.fnUntraced(function* (file: Option.Option<string>) {
  if (Option.isNone(file)) return undefined
  const read = readProfile(yield* readFlagFile("--profile", file.value))
  if (Result.isFailure(read)) {
    return yield* new StartFailure({ message: `--profile: cannot use ${file.value}: ${read.failure}` })
  }
  return read.success as Profile
})
