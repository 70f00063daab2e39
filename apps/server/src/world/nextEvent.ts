/**
 * The next events of a world that need no request. `next-event` of the control plane steps to them. Finding them means looking at every
 * node, which is the price of having no timers.
 */
import { nextChange } from "../lifecycle/NodeLife.ts"
import type { World } from "./World.ts"

export const eventKinds = [
  "provisioning-ends",
  "powers-off",
  "vanishes",
  "commitment-ends",
  "termination-ends",
  "allowance-resets"
] as const

export interface WorldEvent {
  readonly kind: (typeof eventKinds)[number]
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Absent if the event is about the allowance. */
  readonly nodeId?: number
}

/** Maximum number of nodes whose events are listed for one instant. Events that are not listed happen nevertheless. */
const maxNodes = 100

/**
 * All events of the next instant at which something happens, by the id of the node; an event of the allowance comes last.
 * None if nothing will happen.
 */
export const nextEvents = (world: World, now: number): ReadonlyArray<WorldEvent> => {
  const { lifecycle, seed } = world.settings
  let at = Number.POSITIVE_INFINITY
  let events: Array<WorldEvent> = []
  const add = (event: WorldEvent) => {
    if (event.at > at) return
    if (event.at < at) events = []
    at = event.at
    if (event.nodeId === undefined || events.length < maxNodes) events.push(event)
  }
  for (const node of world.nodes.all()) {
    const change = nextChange(seed, lifecycle, node, now)
    if (change !== null) add({ ...change, nodeId: node.id })
  }
  const reading = world.allowance.peek(now)
  if (reading.remaining < reading.limit && reading.resetAt > now) add({ kind: "allowance-resets", at: reading.resetAt })
  return events
}
