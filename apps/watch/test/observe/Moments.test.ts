import { expect, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeMoments } from "../../src/observe/Moments.ts"
import { setBackClock } from "../setBackClock.ts"

it.effect("a clock that is set back changes neither the order of moments nor the time between them", () =>
  Effect.gen(function* () {
    let seconds = 0
    const setBack = yield* setBackClock(() => seconds, 600_000)
    const { around } = yield* makeMoments
    const { answered, asked } = yield* Effect.provideService(
      around(Effect.sync(() => void (seconds += 3))),
      Clock.Clock,
      setBack
    )
    expect(answered.atMillis).toBeLessThan(asked.atMillis)
    expect(answered.order).toBeGreaterThan(asked.order)
    expect(answered.monotonicMillis - asked.monotonicMillis).toBe(3000)
  })
)

it.effect("the service's clock is that of its dates, however the own clock is set", () =>
  Effect.gen(function* () {
    const { now, takeDate } = yield* makeMoments
    expect((yield* now).serviceMillis).toBeNull()
    yield* takeDate({ headers: { date: "Sun, 01 Mar 2026 10:20:30 GMT" } })
    yield* TestClock.adjust("90 seconds")
    expect((yield* now).serviceMillis).toBe(Date.UTC(2026, 2, 1, 10, 22, 0))
    yield* takeDate({ headers: { date: "Sun, 01 Mar 2026 10:21:59 GMT" } })
    expect((yield* now).serviceMillis).toBe(Date.UTC(2026, 2, 1, 10, 22, 0))
    yield* takeDate({ headers: { date: "Sun, 01 Mar 2026 11:00:00 GMT" } })
    expect((yield* now).serviceMillis).toBe(Date.UTC(2026, 2, 1, 11, 0, 0))
    yield* takeDate({ headers: {} })
    expect((yield* now).serviceMillis).toBe(Date.UTC(2026, 2, 1, 11, 0, 0))
  })
)
