/**
 * Which nodes in transition are worth more requests than sweeps take, and from when on: not before such nodes change, as far as
 * this process has seen them do so. Pure.
 */
import type { NodeId } from "@berthkit/core/domain/Node"
import type { Rules, Snapshot } from "../diff/Snapshot.ts"
import { isPassing, soonestMillis, stuckAfterMillis } from "../diff/Transition.ts"
import type { End } from "./Sweep.ts"

/** The way in which nodes in transition are seen beside sweeps: by more sweeps, or each by reads of its own. */
export type Lane = { readonly _tag: "sweeps" } | { readonly _tag: "reads"; readonly end: End | null }

/**
 * From when on the node is worth it, on the monotonic clock; `Infinity` when it is not. Where each takes a read of its own there
 * are two that do not need one: a node that the page with the end of the list shows, and one that is terminating. It can only go, and
 * two complete sweeps prove that, which take longer than all reads; a single read shows in time that it is stuck.
 */
export const laneOpensMillis = (id: NodeId, { evidence, nodes }: Snapshot, rules: Rules, lane: Lane): number => {
  const known = nodes.get(id)
  // What is in doubt is read for that.
  if (known === undefined || known.absence !== null) return Infinity
  const { sinceMonotonicMillis: since, state } = known
  const { status } = state.node
  if (since === null || !isPassing(status)) return Infinity
  if (lane._tag === "reads") {
    if (lane.end !== null && id >= lane.end.firstId) return Infinity
    if (status === "terminate") {
      return state.stuck ? Infinity : since + stuckAfterMillis(evidence.durations, status, rules)
    }
  }
  return since + soonestMillis(evidence.durations, status)
}

/** How many nodes take the lane at present. One that is stuck is not expected to change soon. */
export const inLane = (snapshot: Snapshot, rules: Rules, lane: Lane, nowMillis: number): number => {
  let count = 0
  for (const id of snapshot.unsettled) {
    if (snapshot.nodes.get(id)?.state.stuck !== true && laneOpensMillis(id, snapshot, rules, lane) <= nowMillis) count++
  }
  return count
}
