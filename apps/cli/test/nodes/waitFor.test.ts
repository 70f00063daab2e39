import { layer, nodeRecord, ok } from "@berthkit/core/testing"
import { CallsEnd, endIn } from "@berthkit/core/client/call/Deadline"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { untilSshOrNote, untilUsable } from "../../src/nodes/waitFor.ts"
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

describe("a wait of berth run for the ssh server", () => {
  /** The notes of a wait, and whether it tried to connect. */
  const noted = (publicIp: string | null, isAsked: boolean) =>
    Effect.gen(function* () {
      const notes: Array<string> = []
      const output = { chatty: true, note: (text: string) => Effect.sync(() => void notes.push(text)) }
      const node = { ...someNode(7, "web"), publicIp, privateIp: null }
      yield* Effect.provideService(
        untilSshOrNote(node, isAsked, () => Effect.void),
        Output,
        output as unknown as Output["Service"]
      )
      return notes
    })

  it.effect("says why it does not wait for an address at which no machine answers, or for none", () =>
    Effect.gen(function* () {
      const [network] = yield* noted("100.64.0.9", false)
      assert.include(network, "Node web (7) has the address 100.64.0.9")
      assert.include(network, "--wait ssh")
      const [none] = yield* noted(null, false)
      assert.include(none, "Node web (7) has no public address")
    })
  )

  it.live("tries the address of such a network if it was asked for", () =>
    Effect.gen(function* () {
      const [silent] = yield* Effect.provideService(noted("203.0.113.1", true), CallsEnd, yield* endIn("2 seconds"))
      assert.include(silent, "no ssh server has answered at 203.0.113.1")
    })
  )
})
