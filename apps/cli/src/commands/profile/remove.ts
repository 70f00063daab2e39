/**
 * `berth profile remove`: forgets a profile with its credentials.
 */
import { Effect } from "effect"
import { command } from "../command.ts"
import { printNote } from "../../output/Output.ts"
import { findProfile, withoutProfile } from "../../settings/account.ts"
import { profileArgument } from "../../settings/profileArgument.ts"
import { readProfiles, writeProfiles } from "../../settings/ProfileFile.ts"

export const remove = command(
  { name: profileArgument },
  Effect.fnUntraced(function* ({ name }) {
    const profiles = yield* readProfiles
    yield* findProfile(profiles, name)
    yield* writeProfiles(withoutProfile(profiles, name))
    yield* printNote(`Removed profile ${name}.`)
  })
)
