/**
 * Finds the leases whose node is to go, and ends them: those of a process that has ended, those whose time is over, and kept nodes whose
 * paid hour is over.
 */
import { isRunning } from "@berthkit/core/client/creation/KeyLock"
import { Effect, Option } from "effect"
import { LocalFileFault } from "../failure/CliFailure.ts"
import { leaseFileFault } from "../failure/leaseFileFault.ts"
import { problemOf } from "../failure/Problem.ts"
import { type Lease, type Standing, standingOf } from "../leases/Lease.ts"
import { LeaseStore } from "../leases/LeaseStore.ts"
import type { NodeResult } from "../records/outcome.ts"
import { concurrency } from "./allNodes.ts"
import { endLease, leaseNow } from "./endLease.ts"

/** How a lease stands at this moment. */
const standing = Effect.fnUntraced(function* (lease: Lease, withinMillis: number): Effect.fn.Return<Standing> {
  const alive = yield* isRunning(lease.owner)
  return standingOf(lease, alive, yield* leaseNow, withinMillis)
})

/** The leases whose nodes are to go, and the files that cannot be read as leases. */
export const dueLeases = Effect.fnUntraced(function* (withinMillis: number) {
  const { leases, unreadable } = yield* Effect.mapError((yield* LeaseStore).all, leaseFileFault)
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
    Effect.catch((error) => {
      const failure = "_tag" in error ? error : leaseFileFault(error)
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
