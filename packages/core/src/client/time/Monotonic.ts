/**
 * Time that never jumps: everything measured within the process (deadlines, pauses, refills, polls) is measured with it. The
 * wall clock is read only for what goes to files, headers and people.
 */
import { Clock, Effect } from "effect"

/** Milliseconds since an instant that only this process knows: differences mean something, the number itself does not. */
export const monotonicMillisUnsafe = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** The same as an effect. */
export const monotonicMillis: Effect.Effect<number> = Clock.clockWith((clock) =>
  Effect.succeed(monotonicMillisUnsafe(clock))
)
