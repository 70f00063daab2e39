/**
 * Deletes the node of a lease, and then the lease: that node and no other. It is proved by its id, its name and its creation; of a create
 * whose reply was lost it is found through the key of the create. A lease whose node may still be there is kept.
 */
import { IntentStore } from "@berthkit/core/client/creation/IntentStore"
import { bootClock, millisBetween, stampNow } from "@berthkit/core/client/files/Boot"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { Effect } from "effect"
import { LeasedNodeDiffers, LeasedNodeNotDeleted, LeasedNodeStays, type LocalFileFault } from "../failure/CliFailure.ts"
import { leaseFileFault } from "../failure/leaseFileFault.ts"
import { isProven, type Lease } from "../leases/Lease.ts"
import { LeaseStore } from "../leases/LeaseStore.ts"
import { nodeOfCreate, recordedCreate } from "./nodeOfCreate.ts"

/** What became of the node of a lease. */
export interface LeaseEnd {
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
export const provenNode = Effect.fnUntraced(function* (lease: Lease) {
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
  yield* Effect.mapError(leases.remove(lease.key), leaseFileFault)
  if (store !== undefined) yield* Effect.ignore(store.remove(lease.key))
  return {
    outcome: node !== undefined ? "deleted" : lease.node === null ? "nothing" : "gone",
    id: node?.id ?? (lease.node?.id as NodeId | undefined) ?? null,
    name,
    node: node ?? null
  }
})
