/**
 * What an effect gives, kept for a while: for what is asked for again and again and takes long.
 */
import { Clock, Effect, Exit } from "effect"

/**
 * Asked anew once it is older than this, by the monotonic clock: that of the day may be set back by hours. It is as old as its answer, and
 * all who ask meanwhile get that one; a failure is not kept.
 */
export const cachedFor = <A, E, R>(effect: Effect.Effect<A, E, R>, maxAgeMillis: number) => {
  /** Null while nothing is kept. */
  let endNanos: bigint | null = null
  const read = Effect.onExit(effect, (exit) =>
    Effect.map(Clock.monotonicTimeNanos, (now) => {
      // Nothing is kept of what was interrupted, and another may be under way.
      if (Exit.hasInterrupts(exit)) return
      endNanos = Exit.isSuccess(exit) ? now + BigInt(maxAgeMillis) * 1_000_000n : now
    })
  )
  return Effect.map(Effect.cachedInvalidateWithTTL(read, Infinity), ([cached, invalidate]) =>
    Effect.gen(function* () {
      if (endNanos !== null && (yield* Clock.monotonicTimeNanos) >= endNanos) {
        endNanos = null
        yield* invalidate
      }
      return yield* cached
    })
  )
}
