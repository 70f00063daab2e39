/**
 * Deletes the nodes of fleets and leases, which Berth itself has chosen. A minute may pass between two attempts. In that time somebody
 * may rename the node, another node may get its id, or the node's replacement may be switched off. So the client sends each delete once,
 * and this module reads the node before each further attempt.
 */
import { decide, fullBudget } from "@berthkit/core/client/call/Retry"
import { Nodes } from "@berthkit/core/client/Nodes"
import { monotonicMillis } from "@berthkit/core/client/time/Monotonic"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { Effect, Random, Result } from "effect"
import { lane } from "./allNodes.ts"

/** The same limits as for one call of the client. */
const maxMillis = 60_000
const maxAttempts = 8

/** The pause before the second read after a 404, because one 404 alone may be false. */
const secondLook = "2 seconds"

const isMissing = ({ reason }: BerthError): boolean => reason._tag === "NodeNotFound"

/**
 * Deletes a node that was read right before. Before each further attempt it reads the node again and runs `ensure` with it; if that fails,
 * nothing more is sent. After an attempt that may have been processed, two 404s or the status of a node being deleted count as success.
 */
export const deleteRead = Effect.fnUntraced(function* <E, R>(
  id: NodeId,
  ensure: (read: Node) => Effect.Effect<unknown, E, R>
): Effect.fn.Return<void, BerthError | E, Nodes | R> {
  const nodes = yield* Nodes
  const endMillis = (yield* monotonicMillis) + maxMillis
  /** The failure of the last attempt that may have been processed. */
  let open: BerthError | undefined
  for (let attempts = 1; ; attempts++) {
    const sent = yield* Effect.result(nodes.delete(id, { retry: false }))
    if (Result.isSuccess(sent)) return
    const { failure } = sent
    if (failure.reason.mayBeProcessed) open = failure
    const isDenied = isMissing(failure) && open !== undefined && attempts < maxAttempts
    if (isDenied) yield* Effect.sleep(secondLook)
    else {
      const decision = decide({
        reason: failure.reason,
        repeatable: "idempotent",
        attempts,
        maxAttempts,
        budget: fullBudget,
        leftMillis: endMillis - (yield* monotonicMillis),
        draw: yield* Random.next
      })
      if (decision._tag !== "Again") return yield* open ?? failure
      yield* Effect.sleep(decision.delayMillis)
    }
    let read = yield* Effect.result(nodes.get(id, { lane }))
    if (!isDenied && open !== undefined && Result.isFailure(read) && isMissing(read.failure)) {
      yield* Effect.sleep(secondLook)
      read = yield* Effect.result(nodes.get(id, { lane }))
    }
    if (Result.isFailure(read)) {
      if (!isMissing(read.failure)) return yield* open ?? failure
      if (open !== undefined) return
      return yield* read.failure
    }
    if (read.success.status === "terminate") return
    yield* ensure(read.success)
  }
})
