import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

/**
 * Runs an effect while virtual time passes, so that its waits end. Time passes in small steps, and everything that can run
 * between them does: a large step would reach deadlines that small ones do not.
 */
export const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    while (fiber.pollUnsafe() === undefined) {
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* TestClock.adjust("250 millis")
    }
    return yield* Fiber.join(fiber)
  })
