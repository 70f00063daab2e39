/**
 * Whose fleets there are: the account that the settings name, as ledgers have it, and the list of its fleets on this machine.
 */
import { createHash } from "node:crypto"
import { idsOf } from "@berthkit/core/client/creation/IntentPlace"
import { Effect } from "effect"
import { LocalFileFault } from "../failure/CliFailure.ts"
import { accountFolderOf } from "../settings/accountFolder.ts"
import { connection } from "../settings/client.ts"

/** A text that names the account in a ledger, from which neither the service nor the key can be read. */
const accountOf = (id: string): string => createHash("sha256").update(`fleet ${id}`).digest("hex").slice(0, 16)

/** What the user's state folder has of the account; fails where there is no such folder. */
export const ownAccount = Effect.gen(function* () {
  const account = yield* connection
  const found = accountFolderOf(account)
  if (found === undefined) {
    return yield* new LocalFileFault({
      path: "",
      message: "There is no folder for the state of berth: HOME is not set.",
      hint: "Set HOME or XDG_STATE_HOME to a folder that can be written."
    })
  }
  const own = accountOf(found.id)
  const { intents } = account.files
  /** Whether a ledger is of this account: also by a key or a name that it had before. */
  const isOwn = (other: string): Effect.Effect<boolean> => {
    if (other === own || intents === undefined) return Effect.succeed(other === own)
    return Effect.orElseSucceed(
      Effect.map(idsOf(intents), (ids) => Array.from(ids, accountOf).includes(other)),
      () => false
    )
  }
  return { account: own, isOwn, registry: `${found.folder}/fleets.json` }
})
