/**
 * The nodes that leases are about: one is deleted with its lease, every one that is due, or one that an earlier run kept is taken. It is that
 * node and no other: proved by its id, its name and its creation, and found through the key of the create where the reply of that was lost.
 * A lease whose node may still be there is kept.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import { IntentStore } from "@berthkit/core/client/creation/IntentStore"
import { isRunning, self } from "@berthkit/core/client/creation/KeyLock"
import { bootClock, millisBetween, stampNow } from "@berthkit/core/client/files/Boot"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { Effect, Option } from "effect"
import { LeasedNodeDiffers, LeasedNodeNotDeleted, LeasedNodeStays, LocalFileFault } from "../failure/CliFailure.ts"
import { isProven, type Lease, paidMillisLeft, type Standing, standingOf, takenOver } from "../leases/Lease.ts"
import { LeaseStore } from "../leases/LeaseStore.ts"
import { nodeOfCreate, recordedCreate } from "./nodeOfCreate.ts"
import { problemOf } from "../failure/Problem.ts"
import type { NodeResult } from "../records/outcome.ts"
import { concurrency } from "./allNodes.ts"
import { elapsed } from "../output/format.ts"
import { printNote } from "../output/Output.ts"

/** What became of the node of a lease. */
interface LeaseEnd {
  readonly outcome: "deleted" | "gone" | "nothing"
  readonly id: NodeId | null
  readonly name: string
  readonly node: Node | null
}

export type LeaseFailure = LeasedNodeNotDeleted | LeasedNodeDiffers | LeasedNodeStays | LocalFileFault

/** This moment, as leases have it. */
export const leaseNow = Effect.flatMap(bootClock, stampNow)

/** What proves a node later. */
export const nodeOf = ({ createdAt, id, name }: Node): NonNullable<Lease["node"]> => ({
  id,
  name,
  createdMillis: createdAt.epochMilliseconds
})

/** A service may not find a node that it has just created. */
const newMillis = 60_000
const pausesMillis = [1000, 2000, 4000, 8000]

/** How often a delete is sent that the service accepts and does not carry out, and the pause between. */
const maxDeletes = 3
const deletePause = "2 seconds"

/** The node as the list has it, where the service does not find it by its id. */
const listed = Effect.fnUntraced(function* (id: NodeId, name: string) {
  const nodes = yield* Nodes
  return (yield* nodes.named(name, { lane: "interactive" })).find((node) => node.id === id)
})

/** The node by its id, or from the list; undefined where neither has it. */
const read = (id: NodeId, name: string) =>
  Nodes.use((nodes) => nodes.get(id)).pipe(
    Effect.catchIf(
      ({ reason }) => reason._tag === "NodeNotFound",
      () => listed(id, name)
    )
  )

/** The same, and again for a node that is so new that the service need not find it yet. */
const readNew = Effect.fnUntraced(function* (id: NodeId, { begunAt, name }: Lease) {
  const now = yield* leaseNow
  let node = yield* read(id, name)
  for (const pause of millisBetween(begunAt, now) < newMillis ? pausesMillis : []) {
    if (node !== undefined) break
    yield* Effect.sleep(pause)
    node = yield* read(id, name)
  }
  return node
})

/** The id of the node, where it is known here. */
const idOf = Effect.fnUntraced(function* ({ key, node }: Lease) {
  if (node !== null) return node.id as NodeId
  return (yield* recordedCreate(key))?.nodeId ?? undefined
})

/** The node that a lease is about, proved; undefined where there is none any more. */
const provenNode = Effect.fnUntraced(function* (lease: Lease) {
  const id = yield* idOf(lease)
  const found = id === undefined ? yield* nodeOfCreate(lease, lease.key) : yield* readNew(id, lease)
  if (found === undefined) return undefined
  if (lease.node === null ? found.name === lease.name : isProven(lease.node, nodeOf(found))) return found
  return yield* new LeasedNodeDiffers({ id: found.id, name: lease.node?.name ?? lease.name, has: found.name })
})

/** Deletes a node, and sees that it is on its way out: some services accept a delete and do nothing. */
const removed = Effect.fnUntraced(function* ({ id, name }: Node) {
  const nodes = yield* Nodes
  for (let sent = 1; ; sent++) {
    const isGone = yield* nodes.delete(id).pipe(
      Effect.as(false),
      Effect.catchIf(
        ({ reason }) => reason._tag === "NodeNotFound",
        () => Effect.succeed(true)
      )
    )
    if (isGone) return
    // The delete was accepted: that it cannot be seen does not undo it.
    const after = yield* Effect.orElseSucceed(read(id, name), () => undefined)
    if (after === undefined || after.status === "terminate") return
    if (sent === maxDeletes) return yield* new LeasedNodeStays({ id, name })
    yield* Effect.sleep(deletePause)
  }
})

/** Ends a lease as it is now: what another process has ended meanwhile is done. Give it under `LeaseStore.change`. */
export const endLease = Effect.fnUntraced(function* (
  lease: Lease
): Effect.fn.Return<LeaseEnd, LeaseFailure, Nodes | LeaseStore> {
  const leases = yield* LeaseStore
  const name = lease.node?.name ?? lease.name
  const notDeleted = (id: number | null) => (failure: BerthError | LeasedNodeDiffers | LeasedNodeStays) =>
    failure._tag === "BerthError" ? new LeasedNodeNotDeleted({ id, name, error: failure }) : failure
  const node = yield* Effect.mapError(provenNode(lease), notDeleted(lease.node?.id ?? null))
  if (node !== undefined && node.status !== "terminate") {
    yield* Effect.mapError(removed(node), notDeleted(node.id))
  }
  const store = yield* IntentStore
  yield* leases.remove(lease.key)
  if (store !== undefined) yield* Effect.ignore(store.remove(lease.key))
  return {
    outcome: node !== undefined ? "deleted" : lease.node === null ? "nothing" : "gone",
    id: node?.id ?? (lease.node?.id as NodeId | undefined) ?? null,
    name,
    node: node ?? null
  }
})

/** How a lease stands at this moment. */
const standing = Effect.fnUntraced(function* (lease: Lease, withinMillis: number): Effect.fn.Return<Standing> {
  const alive = yield* isRunning(lease.owner)
  return standingOf(lease, alive, yield* leaseNow, withinMillis)
})

/** The leases whose nodes are to go, and the files that cannot be read as leases. */
export const dueLeases = Effect.fnUntraced(function* (withinMillis: number) {
  const { leases, unreadable } = yield* (yield* LeaseStore).all
  const due = yield* Effect.filter(leases, (lease) =>
    Effect.map(standing(lease, withinMillis), (found) => found === "due")
  )
  return { due, unreadable }
})

/** A file that is no lease: its node may be billed. */
export const unreadableLease = (path: string): LocalFileFault =>
  new LocalFileFault({
    path,
    message: `${path} is not a lease that this berth can read; it is left alone. Its node may be billed.`,
    hint: "Find its node with berth node list --name 'run-*', delete the node, then remove the file."
  })

const reapOne = (due: Lease, withinMillis: number) =>
  LeaseStore.use(({ change }) =>
    change(
      due.key,
      Effect.fnUntraced(function* (lease) {
        // Another process may have ended it, or taken it, meanwhile.
        if (lease === undefined || (yield* standing(lease, withinMillis)) !== "due") return Option.none<NodeResult>()
        const { id, name, node, outcome } = yield* endLease(lease)
        return Option.some<NodeResult>({ id, name, outcome, node, foundBy: id === null ? null : "id", error: null })
      })
    )
  ).pipe(
    Effect.catch((failure) => {
      const { name, node } = due
      return Effect.succeedSome<NodeResult>({
        id: (node?.id as NodeResult["id"]) ?? null,
        name: node?.name ?? name,
        outcome: "failed",
        node: null,
        foundBy: null,
        error: problemOf(failure)
      })
    })
  )

/** Ends every lease that is due; one row each. A node that cannot be deleted keeps its lease. */
export const reapLeases = Effect.fnUntraced(function* (withinMillis = 0) {
  const { due, unreadable } = yield* dueLeases(withinMillis)
  const rows = yield* Effect.forEach(due, (lease) => reapOne(lease, withinMillis), { concurrency })
  return { rows: rows.flatMap(Option.toArray), unreadable }
})

/** What the kept node has to be. */
interface Wanted {
  readonly order: string
  /** Any where none is given. */
  readonly name: string | undefined
  readonly ttlMillis: number
}

/** Takes one lease, if it is still kept and its node runs. */
const takeOne = (key: string, ttlMillis: number) =>
  LeaseStore.use(({ change, save }) =>
    change(
      key,
      Effect.fnUntraced(function* (lease) {
        if (lease === undefined || standingOf(lease, undefined, yield* leaseNow) !== "kept") return undefined
        const node = yield* Effect.orElseSucceed(provenNode(lease), () => undefined)
        if (node?.status !== "running") return undefined
        const taken = takenOver(lease, ttlMillis, yield* self, yield* leaseNow)
        yield* save(taken)
        return { lease: taken, node }
      })
    )
  )

/** The node with the longest time left, and its lease; undefined where none is kept. */
export const takeKept = Effect.fnUntraced(function* ({ name, order, ttlMillis }: Wanted) {
  const { leases } = yield* (yield* LeaseStore).all
  const now = yield* leaseNow
  const fits = (lease: Lease) =>
    lease.keptSince !== null && lease.order === order && (name === undefined || lease.name === name)
  const candidates = leases.filter(fits).toSorted((a, b) => paidMillisLeft(b, now) - paidMillisLeft(a, now))
  for (const { key } of candidates) {
    const taken = yield* takeOne(key, ttlMillis)
    if (taken === undefined) continue
    const { id, name: has } = taken.node
    yield* printNote(
      `Took node ${id} (${has}), which an earlier run kept; its hour has ${elapsed(paidMillisLeft(taken.lease, now))} left.`
    )
    return taken
  }
  return undefined
})
