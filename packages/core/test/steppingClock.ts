/**
 * A wall clock that steps, as when it is set, while the monotonic clock runs on.
 */
import { Clock, Effect } from "effect"

/** Steps of a wall clock: set back by a day, corrected, a wrong time zone, a computer that slept for a day. */
export const steps: ReadonlyArray<readonly [name: string, millis: number]> = [
  ["-1 day", -86_400_000],
  ["-10 min", -600_000],
  ["+2 h", 7_200_000],
  ["+1 day", 86_400_000]
]

/** The current clock, and a function that steps its wall part. */
export const steppingClock = Effect.map(Clock.Clock, (clock) => {
  let ahead = 0
  const stepping: Clock.Clock = {
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + ahead,
    currentTimeMillis: Effect.sync(() => stepping.currentTimeMillisUnsafe()),
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(ahead) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => stepping.currentTimeNanosUnsafe()),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
  return { clock: stepping, step: (millis: number) => Effect.sync(() => void (ahead += millis)) }
})
