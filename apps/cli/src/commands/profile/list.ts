/**
 * `berth profile list`: the accounts that `berth auth login` saved.
 */
import { Effect } from "effect"
import { command } from "../command.ts"
import { printAll } from "../../output/print.ts"
import { profileRecord } from "../../records/account.ts"
import { readProfiles } from "../../settings/ProfileFile.ts"

export const list = command(
  {},
  Effect.fnUntraced(function* () {
    const { current, profiles } = yield* readProfiles
    const records = Array.from(profiles, ([name, { baseUrl }]) => ({ name, current: name === current, baseUrl }))
    yield* printAll(profileRecord, records)
  })
)
