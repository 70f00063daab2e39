/**
 * Waits until a request may be sent. `RequestShare.ts` decides how many may be.
 */
import { Effect, Semaphore } from "effect"
import type { Moments } from "./Moments.ts"
import { fullBucket, type RequestShare, take } from "./RequestShare.ts"

/** Waits until one request may be sent. */
export type Pace = Effect.Effect<void>

/** The first to wait is the first to go. */
export const makePace = Effect.fnUntraced(function* (share: RequestShare, moments: Moments) {
  const turn = yield* Semaphore.make(1)
  let bucket = fullBucket(share, (yield* moments.now).monotonicMillis)
  const step = Effect.map(moments.now, ({ monotonicMillis }) => {
    const taken = take(bucket, share, monotonicMillis)
    bucket = taken.bucket
    return taken.waitMillis
  })
  const pace: Pace = turn.withPermits(1)(
    Effect.gen(function* () {
      for (let waitMillis = yield* step; waitMillis > 0; waitMillis = yield* step) yield* Effect.sleep(waitMillis)
    })
  )
  return pace
})
