/**
 * Decides whether a purchase may be sent now, for every command that a person or a program runs. The purchase may be in
 * this machine's log. Or it is in a ledger, if another machine has bought the period or has sent a purchase that got no
 * reply.
 */
import { Effect } from "effect"
import { boughtByNode, buysPeriod, commitmentLog, type CommitmentOrder } from "../commitmentLog/CommitmentLog.ts"
import { ensureNew, type Named, sendAgain } from "../commitmentLog/sendCommitment.ts"
import { CommitmentBought, CommitmentUnknown, whoOf } from "../failure/CliFailure.ts"
import { mayHaveBought, parseCommitment } from "../fleet/FleetCommitment.ts"
import type { Entry } from "../fleet/Ledger.ts"
import { isFoundOut } from "../fleet/plan.ts"
import { knownLedgers, ownAccount } from "./Registry.ts"
import { givenFor, seeCommitment } from "./sent.ts"

/** The commitment of this node in a ledger entry. */
const commitmentIn = (entry: Entry, id: number): Pick<Entry, "commitment" | "committing"> | undefined =>
  [entry.node?.id === id ? entry : undefined, entry.previous?.id === id ? entry.previous : undefined].find(
    (found) => found !== undefined
  )

/**
 * Fails if a purchase must not be sent now. Either this machine's log has an obstacle, or a ledger that this machine
 * knows has the same purchase for the node or a purchase with an unknown outcome. `days` is the length of the option's
 * period, if known. A purchase that a ledger records as made is no obstacle if this machine's log has an entry about
 * the node. A purchase with an unknown outcome is an obstacle unless the log records exactly that purchase: an entry about
 * a different purchase may be older than the purchase in the ledger.
 */
export const ensureMayBuy = Effect.fnUntraced(function* (
  node: Named,
  order: CommitmentOrder,
  days: number | undefined
) {
  if (!buysPeriod(order)) return
  yield* ensureNew(node, order)
  const { id, name } = node
  const isLogged = (yield* commitmentLog.load).has(id)
  const boughtHere = (yield* boughtByNode).get(id)
  const own = yield* Effect.orElseSucceed(ownAccount, () => undefined)
  if (own === undefined) return
  for (const { entries, fleet, ledger } of yield* knownLedgers(own, "Nothing was sent.")) {
    for (const entry of entries.values()) {
      const { commitment, committing } = commitmentIn(entry, id) ?? {}
      if (committing !== undefined && mayHaveBought(committing) && !isFoundOut(committing, boughtHere)) {
        return yield* new CommitmentUnknown({
          id,
          name,
          because: `the ledger ${ledger} says that ${committing} was sent but got no reply. Nothing was sent now`,
          hint: seeCommitment(id, entry.member, givenFor(committing))
        })
      }
      const bought = commitment === undefined || isLogged ? undefined : parseCommitment(commitment)
      if (bought?.setting !== order.setting || (days !== undefined && bought.days !== days)) continue
      return yield* new CommitmentBought({
        id,
        name,
        message: `The ledger ${ledger} already records ${commitment} for ${whoOf(node)}, which is ${entry.member} of the fleet ${fleet}. A second request may buy another period. Nothing was sent now.`,
        hint: sendAgain(id, order)
      })
    }
  }
})
