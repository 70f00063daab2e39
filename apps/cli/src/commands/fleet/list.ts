/**
 * `berth fleet list`: the fleets that berth knows on this machine. Asks the service nothing.
 */
import { Effect } from "effect"
import { knownLedgers, ownAccount } from "../../applying/Registry.ts"
import { printAll } from "../../output/print.ts"
import { fleetRecord } from "../../records/fleet.ts"
import { command } from "../command.ts"

export const list = command(
  {},
  Effect.fnUntraced(function* () {
    const ledgers = yield* knownLedgers(yield* ownAccount)
    yield* printAll(
      fleetRecord,
      ledgers.map(({ entries, fleet, ledger, state }) => {
        const members = Array.from(entries.values())
        return {
          name: fleet,
          members: members.filter(({ node }) => node !== undefined).length,
          pending: members.filter((entry) => entry.state === "creating").length,
          ledger,
          state
        }
      })
    )
  })
)
