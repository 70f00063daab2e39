/**
 * The flags and the client that `berth apply` and `berth destroy` share.
 */
import { IntentStore } from "@berthkit/core/client/creation/IntentStore"
import { Effect, Layer } from "effect"
import { duration, flag, switchFlag, wholeNumber } from "../../commandLine/Parameter.ts"
import { inOwnWords } from "../../failure/ownKey.ts"
import { notingSends } from "../../nodes/SendNotes.ts"
import { client, clientOf, intents, notKept, overConnection } from "../../settings/client.ts"

/** A client that records the time of each create request in the ledger, right before it sends the request. */
const changing = overConnection((found) =>
  Layer.provideMerge(
    clientOf(found),
    Layer.provide(
      notingSends,
      intents(found, (why) => Layer.effect(IntentStore, Effect.fail(inOwnWords(notKept(why)))))
    )
  )
)

/** The client of a fleet command. A dry run creates nothing, so it does not need a store for idempotency keys. */
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
