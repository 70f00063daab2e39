import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { withProgress } from "../../../src/commands/mcp/progress.ts"

describe("a call of 90 s", () => {
  it.effect("is never silent for as long as the minute after which hosts give up", () =>
    Effect.gen(function* () {
      const told: Array<number> = []
      const tell = (seconds: number) => Effect.sync(() => void told.push(seconds))
      const running = yield* Effect.forkChild(withProgress(Effect.as(Effect.sleep("90 seconds"), "done"), tell))
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* Fiber.join(running), "done")
      assert.deepStrictEqual(
        told,
        Array.from({ length: 17 }, (_, at) => 5 * (at + 1))
      )
    })
  )

  it.effect("fails as it does without a listener", () =>
    Effect.gen(function* () {
      const failed = yield* Effect.result(withProgress(Effect.fail("no"), () => Effect.never))
      assert.strictEqual(failed._tag, "Failure")
    })
  )
})
