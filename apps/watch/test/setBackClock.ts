import { Clock, Effect } from "effect"

/** A clock that shows the seconds that `seconds` returns. From second 2 on, its time of day is set back by some milliseconds. */
export const setBackClock = (seconds: () => number, backMillis: number): Effect.Effect<Clock.Clock> =>
  Effect.map(Clock.Clock, ({ sleep }): Clock.Clock => {
    const millis = () => (seconds() < 2 ? backMillis : 0) + 1000 * seconds()
    const nanos = () => BigInt(seconds()) * 1_000_000_000n
    return {
      sleep,
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: () => BigInt(millis()) * 1_000_000n,
      currentTimeNanos: Effect.sync(() => BigInt(millis()) * 1_000_000n),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos)
    }
  })
