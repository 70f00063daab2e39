/**
 * What an effect gives, kept for a while: for what is asked for again and again and takes long.
 */
import { Clock, Effect } from "effect"

/** Asked anew once it is older than this, by the monotonic clock: that of the day may be set back by hours. */
export const cachedFor = <A, E, R>(effect: Effect.Effect<A, E, R>, maxAgeMillis: number) =>
  Effect.map(Effect.cachedInvalidateWithTTL(effect, Infinity), ([cached, invalidate]) => {
    let readNanos: bigint | null = null
    return Effect.gen(function* () {
      const now = yield* Clock.monotonicTimeNanos
      if (readNanos === null || now - readNanos >= BigInt(maxAgeMillis) * 1_000_000n) {
        readNanos = now
        yield* invalidate
      }
      return yield* cached
    })
  })
