import { layer, nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { untilUsable } from "../../src/nodes/waitFor.ts"
import { Output } from "../../src/output/Output.ts"
import { someNode } from "./someNode.ts"

const record = nodeRecord({ id: 7, name: "web", status: "running", public_ip_address: null })

describe("a wait for the public address", () => {
  it.effect.each([8, 15, 60])("uses its %i seconds, but for the last read", (seconds) =>
    Effect.gen(function* () {
      const notes: Array<string> = []
      const output = { chatty: true, note: (text: string) => Effect.sync(() => void notes.push(text)) }
      const services = Layer.mergeAll(
        layer(({ path }) => ok(path === "/nodes/" ? [record] : record)),
        Layer.succeed(Output, output as unknown as Output["Service"])
      )
      const startedAt = yield* Clock.currentTimeMillis
      const usable = { isPublic: true, timeout: Duration.seconds(seconds) }
      const waiting = yield* untilUsable(someNode(7, "web"), usable, () => Effect.void).pipe(
        Effect.flatMap(() => Clock.currentTimeMillis),
        Effect.provide(services),
        Effect.forkChild
      )
      while (waiting.pollUnsafe() === undefined) {
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        yield* TestClock.adjust("100 millis")
      }
      const waitedMillis = (yield* Fiber.join(waiting)) - startedAt
      assert.isAtLeast(waitedMillis, (seconds - 1) * 1000)
      assert.isAtMost(waitedMillis, seconds * 1000)
      assert.include(notes.join("\n"), "has no public address yet")
    })
  )
})
