/**
 * `berth profile list`: lists the accounts that `berth auth login` saved.
 */
import { Effect } from "effect"
import { command } from "../command.ts"
import { printAll } from "../../output/print.ts"
import { profileOf, profileRecord } from "../../records/account.ts"
import { readProfiles } from "../../settings/ProfileFile.ts"

export const list = command(
  {},
  Effect.fnUntraced(function* () {
    const { current, profiles } = yield* readProfiles
    const records = Array.from(profiles, ([name, values]) => profileOf(name, values, name === current))
    yield* printAll(profileRecord, records)
  })
)
