/**
 * What became of creates of which the ledger has no end: this machine's records of creates tell, and where another machine sent one,
 * time does.
 */
import { IntentStore } from "@berthkit/core/client/creation/IntentStore"
import type { NodeId } from "@berthkit/core/domain/Node"
import { Clock, Effect, Option } from "effect"
import { entriesOf, type Entry, keyOf, type Ledger, made, notMade } from "../fleet/Ledger.ts"
import type { Conflict } from "../fleet/plan.ts"

/** A create that shows no node for so long was not processed (`quietMillis` of the client). */
const quietMillis = 630_000

/** The ledger with what is known by now, and what stands in the way. */
export interface Resolved {
  readonly ledger: Ledger
  readonly conflicts: ReadonlyArray<Conflict>
}

const foreign = ({ member, pending }: Entry): Conflict => ({
  kind: "conflict",
  message: `Another machine began to create ${pending!.name} (${member}) at ${pending!.since}, and the ledger does not say what became of it.`,
  hint: "Run berth apply on that machine, or here once eleven minutes have passed since."
})

/** What became of the create of one entry; null where it was sent from here and is not known to have ended. */
const settledEntry = Effect.fnUntraced(function* (ledger: Ledger, entry: Entry, machine: string) {
  const store = yield* IntentStore
  const { member, pending } = entry
  const found =
    store === undefined
      ? Option.none()
      : yield* Effect.orElseSucceed(store.find(keyOf(ledger, entry)), () => Option.none())
  if (Option.isSome(found)) {
    const { nodeId, sentAt } = found.value
    if (nodeId !== null) {
      const { image, name, plan } = pending!
      const owned = { id: nodeId as NodeId, name, plan, image: String(image), createdAt: null }
      return { ledger: made(ledger, member, owned), conflicts: [] } satisfies Resolved
    }
    return { ledger: sentAt === null ? notMade(ledger, member) : ledger, conflicts: [] } satisfies Resolved
  }
  // This machine records a create before it sends it.
  if (pending!.by === machine) return { ledger: notMade(ledger, member), conflicts: [] } satisfies Resolved
  const age = (yield* Clock.currentTimeMillis) - Date.parse(pending!.since)
  return age >= quietMillis
    ? ({ ledger: notMade(ledger, member), conflicts: [] } satisfies Resolved)
    : ({ ledger, conflicts: [foreign(entry)] } satisfies Resolved)
})

/** Settles what can be settled of every create that is pending. */
export const resolvePending = Effect.fnUntraced(function* (ledger: Ledger, machine: string) {
  let resolved: Resolved = { ledger, conflicts: [] }
  for (const entry of entriesOf(ledger)) {
    if (entry.state !== "creating") continue
    const next = yield* settledEntry(resolved.ledger, entry, machine)
    resolved = { ledger: next.ledger, conflicts: [...resolved.conflicts, ...next.conflicts] }
  }
  return resolved
})
