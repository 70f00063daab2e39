/**
 * The flags and the client that `berth apply` and `berth destroy` share.
 */
import { duration, flag, switchFlag, wholeNumber } from "../../commandLine/Parameter.ts"
import { inOwnWords } from "../../failure/ownKey.ts"
import { client, notKept, overConnection, servingClient } from "../../settings/client.ts"

const changing = overConnection((found) => servingClient(found, (why) => inOwnWords(notKept(why))))

/** A plan that is only shown needs no place for the keys of creates, which berth chooses. */
export const fleetClient = ({ dryRun }: { readonly dryRun: boolean }) => (dryRun ? client : changing)

export const yesFlag = switchFlag("yes", "Do not ask")
export const dryRunFlag = switchFlag("dry-run", "Show the plan and the price, and stop")
export const timeoutFlag = flag("timeout", duration(), "Maximum time to wait for a node; default 10m")
export const maxDeletesFlag = (otherwise: string) =>
  flag("max-deletes", wholeNumber(0), `Abort if more nodes would be deleted; ${otherwise}`)
export const graceFlag = flag(
  "grace",
  duration(),
  "How long a missing node must stay missing before it counts as gone; default 60s"
)
