/**
 * `berth profile show`: shows one profile, without its credentials.
 */
import { Effect } from "effect"
import { command } from "../command.ts"
import { printOne } from "../../output/print.ts"
import { profileOf, profileRecord } from "../../records/account.ts"
import { findProfile, profileArgument } from "../../settings/account.ts"
import { readProfiles } from "../../settings/ProfileFile.ts"

export const show = command(
  { name: profileArgument },
  Effect.fnUntraced(function* ({ name }) {
    const profiles = yield* readProfiles
    const values = yield* findProfile(profiles, name)
    yield* printOne(profileRecord, profileOf(name, values, name === profiles.current))
  })
)
