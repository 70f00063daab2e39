/**
 * Monotonic time, which never jumps: all time within the process (deadlines, pauses, refills, polls) uses it. The wall clock is read only
 * for files, headers and people.
 */
import { Clock, Effect } from "effect"

/** Milliseconds since an arbitrary instant; only differences are meaningful. */
export const monotonicMillisUnsafe = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** The wall clock has stepped if it moves by more than this against the monotonic clock between two readings. */
export const clockStepMillis = 1000

/** The same time, as an effect. */
export const monotonicMillis: Effect.Effect<number> = Clock.clockWith((clock) =>
  Effect.succeed(monotonicMillisUnsafe(clock))
)
