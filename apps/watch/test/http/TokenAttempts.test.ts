import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { clientOf, makeTokenAttempts } from "../../src/http/TokenAttempts.ts"

const wrong = () => false
const right = () => true

/** The outcome of an attempt, and how long it took. */
const timed = <A>(attempt: Effect.Effect<A>) =>
  Effect.gen(function* () {
    const began = yield* Clock.currentTimeMillis
    const fiber = yield* Effect.forkChild(attempt, { startImmediately: true })
    yield* TestClock.adjust("3 seconds")
    const result = yield* Fiber.join(fiber)
    return { result, waited: (yield* Clock.currentTimeMillis) - began }
  })

describe("attempts at the token", () => {
  it.effect("of a client that was wrong ten times wait three seconds before they are checked", () =>
    Effect.gen(function* () {
      const attempt = makeTokenAttempts()
      for (let i = 0; i < 10; i++) expect(yield* attempt("192.0.2.1", wrong)).toBe("wrong")
      let checked = 0
      const fiber = yield* Effect.forkChild(
        attempt("192.0.2.1", () => ++checked < 0),
        { startImmediately: true }
      )
      yield* TestClock.adjust("2999 millis")
      expect(checked).toBe(0)
      yield* TestClock.adjust("1 millis")
      expect(yield* Fiber.join(fiber)).toBe("wrong")
      // Another client is not affected.
      expect(yield* attempt("192.0.2.2", wrong)).toBe("wrong")
    })
  )

  it.effect("of which five already wait turn one of them away, so that the right token after a burst passes", () =>
    Effect.gen(function* () {
      const attempt = makeTokenAttempts()
      for (let i = 0; i < 10; i++) yield* attempt("192.0.2.1", wrong)
      const burst = yield* Effect.forEach(Array.from({ length: 60 }), () =>
        Effect.forkChild(attempt("192.0.2.1", wrong), { startImmediately: true })
      )
      expect(yield* timed(attempt("192.0.2.1", right))).toEqual({ result: "right", waited: 3000 })
      const results = yield* Effect.forEach(burst, (fiber) => Fiber.join(fiber))
      expect(results.filter((result) => result === "turnedAway")).toHaveLength(56)
    })
  )

  it.effect("of many clients are slowed together", () =>
    Effect.gen(function* () {
      const attempt = makeTokenAttempts()
      for (let i = 0; i < 100; i++) yield* attempt(`192.0.2.${i}`, wrong)
      expect(yield* timed(attempt("198.51.100.2", right))).toEqual({ result: "right", waited: 3000 })
    })
  )

  it.effect("are fast again after a pause, however many were wrong", () =>
    Effect.gen(function* () {
      const attempt = makeTokenAttempts()
      for (let i = 0; i < 10; i++) yield* attempt("192.0.2.1", wrong)
      for (let i = 0; i < 40; i++) yield* timed(attempt("192.0.2.1", wrong))
      yield* TestClock.adjust("2 minutes")
      expect(yield* attempt("192.0.2.1", right)).toBe("right")
    })
  )

  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["unix:", "unix:"]
  ])("from %s count for %s", (address, client) => {
    expect(clientOf(address)).toBe(client)
  })
})
