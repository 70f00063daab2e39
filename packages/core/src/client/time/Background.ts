/**
 * Sleeps that do not keep the process alive. With a test clock they use that clock.
 */
import { Clock, Duration, Effect } from "effect"

/** Whether this is the runtime's own clock. Compares classes, because each default is a new object. */
const isLive = (clock: Clock.Clock) => clock.constructor === Clock.Clock.defaultValue().constructor

/** Sleeps without keeping the process alive, which `Effect.sleep` cannot do. */
export const sleepInBackground = (millis: number): Effect.Effect<void> =>
  Clock.clockWith((clock) =>
    isLive(clock)
      ? Effect.callback<void>((resume) => {
          // @effect-diagnostics-next-line globalTimersInEffect:off
          const timer: { unref?: () => void } | number = globalThis.setTimeout(() => resume(Effect.void), millis)
          // In a browser, timers are numbers and do not keep a process alive.
          if (typeof timer === "object") timer.unref?.()
          return Effect.sync(() => clearTimeout(timer as number))
        })
      : clock.sleep(Duration.millis(millis))
  )
