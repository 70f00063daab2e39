/**
 * Remembers the nodes that this client has just created. Some servers of the service may not know such a node yet, so a 404 does not mean
 * that the node is gone.
 */
import { Effect } from "effect"
import type { NodeId } from "../../domain/Node.ts"
import { monotonicMillis } from "../time/Monotonic.ts"

/** For this long after a create, the service may not find the node by its id. */
export const newMillis = 60_000

export const make = () => {
  /** The creation times, oldest first. */
  const createdAt = new Map<NodeId, number>()
  return {
    /** Remembers the node of a create. */
    add: (id: NodeId) =>
      Effect.map(monotonicMillis, (now) => {
        for (const [id, at] of createdAt) {
          if (now - at < newMillis) break
          createdAt.delete(id)
        }
        createdAt.set(id, now)
      }),
    /** Forgets a deleted node. */
    remove: (id: NodeId) => Effect.sync(() => void createdAt.delete(id)),
    /** Whether a 404 may only mean that the node is new. */
    has: (id: NodeId) =>
      Effect.map(monotonicMillis, (now) => {
        const at = createdAt.get(id)
        return at !== undefined && now - at < newMillis
      })
  }
}
