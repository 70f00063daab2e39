import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

/**
 * Runs an effect while virtual time passes, so that its waits end. Time passes in small steps, and between them everything runs that can
 * run. After a large step, a deadline could end a call that would have ended before it.
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
