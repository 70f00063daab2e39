/**
 * `berth profile remove`: deletes a profile with its credentials.
 */
import { Effect } from "effect"
import { command } from "../command.ts"
import { printNote } from "../../output/Output.ts"
import { forgetProfile, profileArgument } from "../../settings/account.ts"
import { readProfiles } from "../../settings/ProfileFile.ts"

export const remove = command(
  { name: profileArgument },
  Effect.fnUntraced(function* ({ name }) {
    yield* forgetProfile(yield* readProfiles, name)
    yield* printNote(`Removed profile ${name}.`)
  })
)
