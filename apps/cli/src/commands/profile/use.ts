/**
 * `berth profile use`: sets the profile that commands use if none is named.
 */
import { Effect } from "effect"
import { command } from "../command.ts"
import { printOne } from "../../output/print.ts"
import { profileOf, profileRecord } from "../../records/account.ts"
import { findProfile, profileArgument } from "../../settings/account.ts"
import { readProfiles, writeProfiles } from "../../settings/ProfileFile.ts"

export const use = command(
  { name: profileArgument },
  Effect.fnUntraced(function* ({ name }) {
    const profiles = yield* readProfiles
    const values = yield* findProfile(profiles, name)
    yield* writeProfiles({ ...profiles, current: name })
    yield* printOne(profileRecord, profileOf(name, values, true))
  })
)
