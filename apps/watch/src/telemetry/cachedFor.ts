/** Caches the result of an effect for a while. It is for values that are slow to get and needed often. */
import { Clock, Effect, Exit } from "effect"

/**
 * Age counts from the end of the run, on the monotonic clock, because the wall clock may be set back. Callers share a run that
 * is in progress. Failures are not cached.
 */
export const cachedFor = <A, E, R>(effect: Effect.Effect<A, E, R>, maxAgeMillis: number) => {
  /** Null if nothing is cached. */
  let endNanos: bigint | null = null
  const read = Effect.onExit(effect, (exit) =>
    Effect.map(Clock.monotonicTimeNanos, (now) => {
      // An interrupted run caches nothing, and a newer run may be in progress.
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
