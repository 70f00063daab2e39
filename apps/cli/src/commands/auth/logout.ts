/**
 * `berth auth logout`: deletes the credentials of a profile from this machine. They stay valid until they are revoked in the portal.
 */
import { Effect } from "effect"
import { command } from "../command.ts"
import { printNote } from "../../output/Output.ts"
import { removeProfile } from "../../settings/account.ts"

export const logout = command(
  {},
  Effect.fnUntraced(function* () {
    const name = yield* removeProfile
    yield* printNote(
      `Removed profile ${name}. The credentials stay valid until they are withdrawn in the account portal.`
    )
  })
)
