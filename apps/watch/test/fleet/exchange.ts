/**
 * What a machine of a simulation asks of another party, over a network: the request takes its time, is lost with the connection before or
 * after it was done, and its answer waits while the machine stands still.
 */
import { Effect } from "effect"
import type { Machine, Simulation } from "./Simulation.ts"

const maxTransitMillis = 20

/** From the loss of a connection until a machine is told so. */
const maxNoticeMillis = 3000

/** A connection: what is sent on it arrives in order. */
export interface Line {
  /** When the last arrives that was sent. */
  atMillis: number
}

/** `perform`: the other party does what it is asked for. `lost`: what the machine gets instead of an answer; null where it is not cut off from that party. */
export const exchange = <A, E>(
  simulation: Simulation,
  machine: Machine,
  perform: (reply: (answer: Effect.Effect<A, E>) => void) => void,
  lost: (() => Effect.Effect<A, E>) | null,
  line: Line = { atMillis: 0 }
): Effect.Effect<A, E> =>
  Effect.callback((resume) => {
    const arrive = (answer: Effect.Effect<A, E>) => machine.enqueue(() => resume(answer))
    /** Goes on after a while, unless the connection breaks until then. */
    const transit = (millis: number, next: () => void) =>
      simulation.after(millis, () => {
        if (lost === null || !machine.isCut) return next()
        simulation.after(simulation.chance.below(maxNoticeMillis), () => arrive(lost()))
      })
    const transitMillis = Math.max(simulation.some(maxTransitMillis), line.atMillis - simulation.nowMillis)
    line.atMillis = simulation.nowMillis + transitMillis
    transit(transitMillis, () => perform((answer) => transit(simulation.some(maxTransitMillis), () => arrive(answer))))
  })
