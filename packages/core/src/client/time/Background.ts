/**
 * Work that keeps no program alive: while a program has nothing else to do, its timers do not count. Where a test holds the
 * clock, its sleeps are those of the test.
 */
import { Clock, Duration, Effect } from "effect"

/** Whether a clock is of the kind that the runtime has: each default is a new one. */
const isLive = (clock: Clock.Clock) => clock.constructor === Clock.Clock.defaultValue().constructor

/** Sleeps without keeping the process alive. `Effect.sleep` has no such timer. */
export const sleepInBackground = (millis: number): Effect.Effect<void> =>
  Clock.clockWith((clock) =>
    isLive(clock)
      ? Effect.callback<void>((resume) => {
          // @effect-diagnostics-next-line globalTimersInEffect:off
          const timer: { unref?: () => void } | number = globalThis.setTimeout(() => resume(Effect.void), millis)
          // In a browser timers are numbers, and hold nothing up.
          if (typeof timer === "object") timer.unref?.()
          return Effect.sync(() => clearTimeout(timer as number))
        })
      : clock.sleep(Duration.millis(millis))
  )
