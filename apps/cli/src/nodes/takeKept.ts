/**
 * Takes a node that an earlier run kept: of the same order, proved, running, and within its paid hour.
 */
import { self } from "@berthkit/core/client/creation/KeyLock"
import { Effect } from "effect"
import { leaseFileFault } from "../failure/leaseFileFault.ts"
import { type Lease, paidMillisLeft, standingOf, takenOver } from "../leases/Lease.ts"
import { LeaseStore } from "../leases/LeaseStore.ts"
import { elapsed } from "../output/format.ts"
import { printNote } from "../output/Output.ts"
import { leaseNow, provenNode } from "./endLease.ts"

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
  ).pipe(Effect.mapError(leaseFileFault))

/** The node with the longest time left, and its lease; undefined where none is kept. */
export const takeKept = Effect.fnUntraced(function* ({ name, order, ttlMillis }: Wanted) {
  const { leases } = yield* Effect.mapError((yield* LeaseStore).all, leaseFileFault)
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
