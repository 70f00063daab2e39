/**
 * Where moments come from: the `Clock`, and a count that orders them.
 */
import { Clock, Effect } from "effect"
import type { Exchange, Moment } from "../diff/Observation.ts"

const nanosPerMilli = 1_000_000

export interface Moments {
  readonly now: Effect.Effect<Moment>
  /** Runs `ask`, and says when it was asked and answered. */
  readonly around: <A, E, R>(ask: Effect.Effect<A, E, R>) => Effect.Effect<Exchange & { readonly answer: A }, E, R>
}

export const makeMoments: Effect.Effect<Moments> = Effect.sync(() => {
  let order = 0
  const now = Effect.gen(function* () {
    const atMillis = yield* Clock.currentTimeMillis
    const upMillis = Number(yield* Clock.monotonicTimeNanos) / nanosPerMilli
    return { order: ++order, atMillis, upMillis }
  })
  const around = <A, E, R>(ask: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const asked = yield* now
      const answer = yield* ask
      const answered = yield* now
      return { asked, answered, answer }
    })
  return { now, around }
})
