import { expect, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { cachedFor } from "../../src/telemetry/cachedFor.ts"

it.effect("what is kept for a while is read anew after it, although the clock was set back meanwhile", () =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    let seconds = 0
    const millis = () => (seconds < 2 ? 10_000_000 : 0) + 1000 * seconds
    const nanos = () => BigInt(seconds) * 1_000_000_000n
    const setBack: Clock.Clock = {
      sleep: clock.sleep,
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: () => BigInt(millis()) * 1_000_000n,
      currentTimeNanos: Effect.sync(() => BigInt(millis()) * 1_000_000n),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos)
    }
    let reads = 0
    const cached = yield* cachedFor(
      Effect.sync(() => ++reads),
      5000
    )
    const read = Effect.provideService(cached, Clock.Clock, setBack)
    const readAt: Array<readonly [second: number, value: number]> = []
    for (const second of [0, 1, 4, 5, 6, 10]) {
      seconds = second
      readAt.push([second, yield* read])
    }
    expect(readAt).toEqual([
      [0, 1],
      [1, 1],
      [4, 1],
      [5, 2],
      [6, 2],
      [10, 3]
    ])
  })
)
