/**
 * Finds the outcomes of create requests that the ledger still shows as open. The outcome of a request that this machine sent is in its
 * records. A request of another machine counts as not carried out once the service can no longer process it.
 */
import { instantNow } from "@berthkit/core/client/instantNow"
import { isQuietAtLast, isQuietElsewhere } from "@berthkit/core/client/creation/Ownership"
import { candidatesOf, type Instant, type Intent, recordedCreate } from "@berthkit/core/client/creation/IntentStore"
import type { Allowance } from "@berthkit/core/client/Allowance"
import type { Nodes } from "@berthkit/core/client/Nodes"
import { nodeOfCreate } from "@berthkit/core/client/nodeOfCreate"
import { Effect, Result } from "effect"
import {
  entriesOf,
  type Entry,
  keyOf,
  type Ledger,
  made,
  notMade,
  type Owned,
  ownedIds,
  ownedOf,
  type Pending,
  sharedNode
} from "../fleet/Ledger.ts"
import { candidatesFor } from "../fleet/candidates.ts"
import type { Conflict } from "../fleet/Change.ts"
import type { World } from "../fleet/plan.ts"
import { creatingClient } from "../settings/client.ts"
import type { LedgerFile } from "./LedgerFile.ts"
import { observe } from "./observe.ts"
import { recordOf } from "./recordedNodes.ts"
import { machineName } from "./Registry.ts"
import { waitElsewhereText, waitText } from "../nodes/ifAbsent.ts"

/** The ledger with all known outcomes, and the conflicts. */
export interface Resolved {
  readonly ledger: Ledger
  readonly conflicts: ReadonlyArray<Conflict>
  /** For each member, the nodes that its unanswered create may have made according to this machine's records. */
  readonly candidates: ReadonlyMap<string, ReadonlyArray<number>>
}

/** Nodes that this machine recorded as possible results of creates. */
const recordedCandidates = Effect.fnUntraced(function* (ledger: Ledger, entries: ReadonlyArray<Entry>) {
  const found = yield* Effect.forEach(entries, (entry) =>
    Effect.map(recordedCreate(keyOf(ledger, entry)), (recorded) => [entry.member, candidatesOf(recorded)] as const)
  )
  return new Map(found)
})

const unrecorded = ({ member, pending }: Entry, machine: string): Conflict => ({
  kind: "conflict",
  message:
    pending!.by === machine
      ? `This machine sent the create of ${pending!.name} (${member}) at ${pending!.since}, and its state folder has no record of it, for example because the folder was restored or copied.`
      : `Another machine began to create ${pending!.name} (${member}) at ${pending!.since}, and the ledger does not say whether a node was made.`,
  hint: `Run berth apply ${pending!.by === machine ? "with the state folder that has the record" : "on that machine"}, or here ${waitElsewhereText(pending!.byService === true)} after that time: until then the service may still create the node.`
})

/**
 * Whether no later run can find out more about an open create, because the service can no longer process it. Otherwise
 * `wait` is the longest time until then, in words. The time of the create comes from `recorded`, this machine's record,
 * or otherwise from the ledger.
 */
export const endOfCreate = (
  { byService, since }: Pending,
  recorded: Intent | null | undefined,
  now: Instant
): { readonly isOver: boolean; readonly wait: string } => {
  const sentAt = recorded?.sentAt
  if (sentAt) {
    return { isOver: recorded?.fate === "refused" || isQuietAtLast(sentAt, now), wait: waitText(sentAt, now) }
  }
  const isOfService = byService === true
  return {
    isOver: isQuietElsewhere({ millis: Date.parse(since), isOfService }, now),
    wait: waitElsewhereText(isOfService)
  }
}

/** How the ledger changes with the outcome of a create, or why the outcome is unknown. */
type Settled = Result.Result<(ledger: Ledger) => Ledger, Conflict>

/**
 * Finds the outcome of one entry's create. If this machine sent the create and does not know the outcome, looks for the node only if
 * `mustKnow` is set.
 */
const settledEntry = Effect.fnUntraced(function* (
  ledger: Ledger,
  entry: Entry,
  machine: string,
  mustKnow: boolean
): Effect.fn.Return<Settled, never, Allowance | Nodes> {
  const { member } = entry
  const pending = entry.pending!
  const { image, name, plan } = pending
  const nothing: Settled = Result.succeed((before) => notMade(before, member))
  const unknown: Settled = Result.succeed((before) => before)
  const node = (owned: Owned): Settled => Result.succeed((before) => made(before, member, owned))
  const { node: owned, recorded } = yield* recordOf(ledger, entry)
  // If the record cannot be read, the outcome stays unknown.
  if (recorded === undefined) return unknown
  if (owned !== undefined) return node(owned)
  if (recorded !== null) {
    if (recorded.sentAt === null) return nothing
    if (!mustKnow) return unknown
    return yield* nodeOfCreate({ name, plan, image }, keyOf(ledger, entry)).pipe(
      Effect.map((found) => (found === undefined ? nothing : node({ ...ownedOf(found), plan, image: String(image) }))),
      Effect.orElseSucceed(() => unknown)
    )
  }
  // This machine records each create before sending it, so without a record it has sent nothing. But after a copy of
  // the state folder, two machines have the same name and different records. So if the ledger says that the create was
  // sent, a missing record proves nothing.
  if (pending.by === machine && pending.isSent !== true) return nothing
  const since = { millis: Date.parse(pending.since), isOfService: pending.byService === true }
  return isQuietElsewhere(since, yield* instantNow) ? nothing : Result.fail(unrecorded(entry, machine))
})

/** The conflict if the node of a create already belongs to another member. A person may have adopted the node on another machine. */
const heldTwice = ({ member }: Entry, { id, members }: NonNullable<ReturnType<typeof sharedNode>>): Conflict => {
  const other = members.find((each) => each !== member) ?? member
  return {
    kind: "conflict",
    message: `The create of ${member} has made node ${id}, and the ledger has that node as ${other}.`,
    hint: `To make it ${member} again: berth fleet forget ${other}, and run the same command again. To keep it as ${other}: berth fleet forget ${member}. The node stays.`
  }
}

/** How many creates are looked up at the same time to find their outcomes. They share their reads. */
const concurrency = 25

/** Finds the outcomes of pending creates where possible. `mustKnow` selects the creates whose node is looked for in the account. */
export const resolvePending = Effect.fnUntraced(function* (
  ledger: Ledger,
  machine: string,
  mustKnow: (entry: Entry) => boolean
) {
  const pending = entriesOf(ledger).filter(({ state }) => state === "creating")
  const settled = yield* Effect.forEach(pending, (entry) => settledEntry(ledger, entry, machine, mustKnow(entry)), {
    concurrency
  })
  const candidates = yield* recordedCandidates(ledger, pending)
  const conflicts: Array<Conflict> = []
  let known = ledger
  for (const [at, outcome] of settled.entries()) {
    if (Result.isFailure(outcome)) conflicts.push(outcome.failure)
    else {
      const next = outcome.success(known)
      const shared = sharedNode(next.members.values())
      if (shared === undefined) known = next
      else conflicts.push(heldTwice(pending[at]!, shared))
    }
  }
  return { candidates, ledger: known, conflicts } satisfies Resolved
})

/**
 * Like `resolvePending`, and then observes the account. If the list shows a node that a create without a known outcome
 * may have made, looks for that create's node, too. If the node turns out to be somebody else's, the plan refuses to
 * make a second node of that name.
 */
export const resolveAndObserve = Effect.fnUntraced(function* (
  ledger: Ledger,
  machine: string,
  mustKnow: (entry: Entry) => boolean,
  elsewhere: World["elsewhere"]
) {
  const first = yield* resolvePending(ledger, machine, mustKnow)
  const observed = yield* observe(first.ledger, elsewhere)
  const owned = ownedIds(first.ledger)
  const isTaken = (id: number) => owned.has(id) || elsewhere.has(id)
  const named = new Set(
    entriesOf(first.ledger).flatMap((entry) =>
      entry.state === "creating" && candidatesFor(entry, observed.world.nodes.values(), isTaken).length > 0
        ? [entry.member]
        : []
    )
  )
  if (named.size === 0) return { resolved: first, observed }
  const second = yield* resolvePending(first.ledger, machine, ({ member }) => named.has(member))
  const isSame = second.ledger === first.ledger
  return { resolved: second, observed: isSame ? observed : yield* observe(second.ledger, elsewhere) }
})

/**
 * Returns the ledger with the outcomes of its open creates, as far as they can be known. If `mustKnow` selects no create, returns the
 * ledger as it is. Writes nothing.
 */
export const settledCreates = Effect.fnUntraced(function* (ledger: Ledger, mustKnow: (entry: Entry) => boolean) {
  if (!entriesOf(ledger).some((entry) => entry.state === "creating" && mustKnow(entry))) return ledger
  const machine = yield* machineName
  const resolved = yield* Effect.provide(resolvePending(ledger, machine, mustKnow), creatingClient(undefined))
  return resolved.ledger
})

/** Returns the ledger with the outcome of one member's open create, if it can be known. Writes nothing. */
export const settledMember = (file: LedgerFile, member: string) =>
  Effect.flatMap(file.current, (ledger) => settledCreates(ledger, (entry) => entry.member === member))
