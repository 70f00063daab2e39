/**
 * Completes a ledger with this machine's records of creates. A run that is cut off after a create leaves a ledger without the created node,
 * although the node belongs to the fleet. Sends nothing.
 */
import { candidatesOf, IntentStore, recordedCreate } from "@berthkit/core/client/creation/IntentStore"
import { Effect, Layer } from "effect"
import { type Entry, entriesOf, keyOf, type Ledger, made, type Owned } from "../fleet/Ledger.ts"
import { intents, overConnection } from "../settings/client.ts"

/** A ledger, and what this machine knows about its open creates. */
export interface WithRecords {
  readonly ledger: Ledger
  /** For each member, the nodes that its open create may have made according to this machine's records. */
  readonly candidates: ReadonlyMap<string, ReadonlyArray<number>>
}

/** This machine's record of an entry's create, and the node of that create if the record has it. */
export const recordOf = Effect.fnUntraced(function* (ledger: Ledger, entry: Entry) {
  const recorded = yield* recordedCreate(keyOf(ledger, entry))
  const { pending } = entry
  const node: Owned | undefined =
    recorded?.nodeId == null || pending === undefined
      ? undefined
      : { id: recorded.nodeId, name: pending.name, plan: pending.plan, image: String(pending.image), createdAt: null }
  return { recorded, node }
})

/**
 * Opens this machine's records of creates. Commands that create nothing do not open them at the start, because few of
 * these commands need records.
 */
const recording = overConnection((found) => intents(found, () => Layer.empty))

/** The ledger with the nodes of open creates that this machine has recorded. */
export const withRecords = Effect.fnUntraced(function* (ledger: Ledger) {
  const open = entriesOf(ledger).filter(({ state }) => state === "creating")
  if (open.length === 0) return { ledger, candidates: new Map() } satisfies WithRecords as WithRecords
  const store = yield* IntentStore
  const reads = Effect.forEach(open, (entry) =>
    Effect.map(recordOf(ledger, entry), ({ node, recorded }) => ({ member: entry.member, node, recorded }))
  )
  // If there are no records, the ledger holds all that is known.
  const found = yield* store === undefined ? Effect.orElseSucceed(Effect.provide(reads, recording), () => []) : reads
  return {
    ledger: found.reduce(
      (before, { member, node }) => (node === undefined ? before : made(before, member, node)),
      ledger
    ),
    candidates: new Map(found.map(({ member, recorded }) => [member, candidatesOf(recorded)]))
  } satisfies WithRecords as WithRecords
})
