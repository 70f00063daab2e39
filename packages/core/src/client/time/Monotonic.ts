/**
 * Monotonic time, which never jumps: everything within the process (deadlines, pauses, refills, polls) is measured with it. The
 * wall clock is read only for files, headers and people.
 */
import { Clock, Effect } from "effect"

/** Milliseconds since an arbitrary instant: only differences mean something. */
export const monotonicMillisUnsafe = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** The same time, as an effect. */
export const monotonicMillis: Effect.Effect<number> = Clock.clockWith((clock) =>
  Effect.succeed(monotonicMillisUnsafe(clock))
)
