/**
 * `berth profile show`: one profile, without its credentials.
 */
import { Effect } from "effect"
import { command } from "../command.ts"
import { printOne } from "../../output/print.ts"
import { profileRecord } from "../../records/account.ts"
import { findProfile, profileArgument } from "../../settings/account.ts"
import { readProfiles } from "../../settings/ProfileFile.ts"

export const show = command(
  { name: profileArgument },
  Effect.fnUntraced(function* ({ name }) {
    const profiles = yield* readProfiles
    const { baseUrl } = yield* findProfile(profiles, name)
    yield* printOne(profileRecord, { name, current: name === profiles.current, baseUrl })
  })
)
