import { expect, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { cachedFor } from "../../src/telemetry/cachedFor.ts"
import { setBackClock } from "../setBackClock.ts"

it.effect("a cached value is read anew after its time, even if the clock was set back", () =>
  Effect.gen(function* () {
    let seconds = 0
    const setBack = yield* setBackClock(() => seconds, 10_000_000)
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

it.effect("all who ask while an answer is under way get that one, which is as old as it is there", () =>
  Effect.gen(function* () {
    let reads = 0
    const slow = Effect.sync(() => ++reads).pipe(Effect.delay("10 seconds"))
    const cached = yield* cachedFor(slow, 5000)
    const first = yield* Effect.forkChild(cached, { startImmediately: true })
    yield* TestClock.adjust("6 seconds")
    const second = yield* Effect.forkChild(cached, { startImmediately: true })
    yield* TestClock.adjust("4 seconds")
    expect(yield* Fiber.join(first)).toBe(1)
    expect(yield* Fiber.join(second)).toBe(1)
    yield* TestClock.adjust("4 seconds")
    expect(yield* cached).toBe(1)
    yield* TestClock.adjust("1 second")
    const third = yield* Effect.forkChild(cached, { startImmediately: true })
    yield* TestClock.adjust("10 seconds")
    expect(yield* Fiber.join(third)).toBe(2)
  })
)

it.effect("a failure is not kept", () =>
  Effect.gen(function* () {
    let reads = 0
    const unsteady = Effect.suspend(() => (++reads < 3 ? Effect.fail("unreadable") : Effect.succeed(reads)))
    const cached = yield* cachedFor(unsteady, 60_000)
    expect(yield* Effect.flip(cached)).toBe("unreadable")
    expect(yield* Effect.flip(cached)).toBe("unreadable")
    expect(yield* cached).toBe(3)
    expect(yield* cached).toBe(3)
  })
)

it.effect("an answer that nobody waits for any longer is requested again", () =>
  Effect.gen(function* () {
    let reads = 0
    const slow = Effect.sync(() => ++reads).pipe(Effect.delay("10 seconds"))
    const cached = yield* cachedFor(slow, 60_000)
    const left = yield* Effect.forkChild(cached, { startImmediately: true })
    yield* TestClock.adjust("1 second")
    yield* Fiber.interrupt(left)
    const asked = yield* Effect.forkChild(cached, { startImmediately: true })
    yield* TestClock.adjust("10 seconds")
    expect(yield* Fiber.join(asked)).toBe(1)
  })
)
