/**
 * Which node is which member of a fleet, by the ledgers of this machine.
 */
import { Effect } from "effect"
import { Output } from "../output/Output.ts"
import { ownAccount } from "./ownAccount.ts"
import { fleetOfNodes, type KnownLedger, knownLedgers } from "./Registry.ts"

/** A ledger that is not there, or is of another account, has no nodes of this one. */
const unusable: ReadonlyArray<KnownLedger["state"]> = ["damaged", "later", "unreadable"]

/** By node. A ledger that cannot be used is reported: its nodes seem to be in no fleet. */
export const ownMemberships = Effect.gen(function* () {
  const { isOwn, registry } = yield* ownAccount
  const ledgers = yield* knownLedgers(registry, isOwn)
  const { warn } = yield* Output
  for (const { fleet, ledger, state } of ledgers) {
    if (unusable.includes(state)) {
      yield* warn(`The ledger ${ledger} cannot be used: nodes of the fleet ${fleet} count as in no fleet.`)
    }
  }
  return fleetOfNodes(ledgers)
})
