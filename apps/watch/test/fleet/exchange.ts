/**
 * A request of a simulated machine to another party over a network. It takes time. It may be lost with the connection before or after it
 * was carried out. Its answer waits while the machine is frozen.
 */
import { Effect } from "effect"
import type { Machine, Simulation } from "./Simulation.ts"

const maxTransitMillis = 20

/** How long a machine takes to notice the loss of a connection. */
const maxNoticeMillis = 3000

/** A connection: what is sent on it arrives in order. */
export interface Line {
  /** When the last request that was sent arrives. */
  atMillis: number
}

/**
 * `perform`: the other party carries out the request. `lost`: the machine gets this instead of an answer; null if it cannot be cut off
 * from that party.
 */
export const exchange = <A, E>(
  simulation: Simulation,
  machine: Machine,
  perform: (reply: (answer: Effect.Effect<A, E>) => void) => void,
  lost: (() => Effect.Effect<A, E>) | null,
  line: Line = { atMillis: 0 }
): Effect.Effect<A, E> =>
  Effect.callback((resume) => {
    const arrive = (answer: Effect.Effect<A, E>) => machine.enqueue(() => resume(answer))
    /** Calls `next` after a while, unless the connection breaks before that. */
    const transit = (millis: number, next: () => void) =>
      simulation.after(millis, () => {
        if (lost === null || !machine.isCut) return next()
        simulation.after(simulation.chance.below(maxNoticeMillis), () => arrive(lost()))
      })
    const transitMillis = Math.max(simulation.some(maxTransitMillis), line.atMillis - simulation.nowMillis)
    line.atMillis = simulation.nowMillis + transitMillis
    transit(transitMillis, () => perform((answer) => transit(simulation.some(maxTransitMillis), () => arrive(answer))))
  })
