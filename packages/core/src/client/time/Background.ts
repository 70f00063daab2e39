/**
 * Sleeps that do not keep a process alive. Under a test's clock they are sleeps of that clock.
 */
import { Clock, Duration, Effect } from "effect"

/** Whether this is the runtime's own clock. Compared by class, because each default is a new one. */
const isLive = (clock: Clock.Clock) => clock.constructor === Clock.Clock.defaultValue().constructor

/** Sleeps without keeping the process alive. `Effect.sleep` has no such timer. */
export const sleepInBackground = (millis: number): Effect.Effect<void> =>
  Clock.clockWith((clock) =>
    isLive(clock)
      ? Effect.callback<void>((resume) => {
          // @effect-diagnostics-next-line globalTimersInEffect:off
          const timer: { unref?: () => void } | number = globalThis.setTimeout(() => resume(Effect.void), millis)
          // In a browser timers are numbers, and keep nothing alive.
          if (typeof timer === "object") timer.unref?.()
          return Effect.sync(() => clearTimeout(timer as number))
        })
      : clock.sleep(Duration.millis(millis))
  )
