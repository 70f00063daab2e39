/**
 * Where moments come from: the `Clock`, and a count that orders them.
 */
import { Clock, Effect } from "effect"
import type { Exchange, Moment } from "../diff/Observation.ts"

const nanosPerMilli = 1_000_000

export interface Moments {
  readonly now: Effect.Effect<Moment>
  /** Runs `request`, and adds the moments of the request and of its reply. */
  readonly around: <A, E, R>(request: Effect.Effect<A, E, R>) => Effect.Effect<Exchange & { readonly answer: A }, E, R>
}

export const makeMoments: Effect.Effect<Moments> = Effect.sync(() => {
  let order = 0
  const now = Effect.gen(function* () {
    const atMillis = yield* Clock.currentTimeMillis
    const monotonicMillis = Number(yield* Clock.monotonicTimeNanos) / nanosPerMilli
    return { order: ++order, atMillis, monotonicMillis }
  })
  const around = <A, E, R>(request: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const asked = yield* now
      const answer = yield* request
      const answered = yield* now
      return { asked, answered, answer }
    })
  return { now, around }
})
