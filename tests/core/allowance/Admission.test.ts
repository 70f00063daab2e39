import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { TestServer } from "@berthkit/server/testing"
import * as Berth from "@berthkit/core/client/Berth"
import { Images } from "@berthkit/core/client/Images"
import { Nodes } from "@berthkit/core/client/Nodes"
import { inDialect, optionsOf } from "../../account.ts"

const hour = 3_600_000

/** The client with the mock service in this process, on one virtual clock. The rate limit is `limit` requests per hour. */
const service = (limit: number) =>
  Layer.unwrap(
    Effect.gen(function* () {
      // Set a realistic time, because the client reads a reset below 10⁹ as seconds from now.
      yield* TestClock.setTime(1_790_000_000_000)
      return Berth.layer(optionsOf(yield* TestServer))
    })
  ).pipe(
    Layer.provideMerge(
      TestServer.layerHttpClient(
        inDialect({
          clock: "real",
          scenario: "small",
          rateLimit: { limit, window: hour, algorithm: "fixed-window" }
        })
      )
    )
  )

const refused = Effect.map(
  TestServer.use(({ journal }) => journal),
  (journal) => journal.filter(({ status }) => status === 429).length
)

/** Runs everything that can run without time passing. */
const runReady = Effect.forEach(Array.from({ length: 30 }), () =>
  Effect.promise(() => new Promise((r) => setImmediate(r)))
)

/** Reads the list again and again, as fast as admission allows. */
const sweep = Effect.forever(Nodes.use((nodes) => Stream.runDrain(nodes.list({ deadline: "1 day" }))))

describe("admission", () => {
  it.effect("admits an interactive call at once while a sweep saturates the allowance", () =>
    Effect.gen(function* () {
      const sweeping = yield* Effect.forkChild(sweep)
      // The sweep uses everything except the share of the other lanes, and then waits for the reset.
      for (let i = 0; i < 40; i++) {
        yield* runReady
        yield* TestClock.adjust("1 second")
      }
      const before = yield* Clock.currentTimeMillis
      const person = yield* Effect.forkChild(Images.use((images) => images.saved()))
      yield* runReady
      assert.isDefined(person.pollUnsafe(), "answered without any time passing")
      assert.strictEqual(yield* Clock.currentTimeMillis, before)
      assert.strictEqual(yield* refused, 0)
      yield* Fiber.interrupt(sweeping)
    }).pipe(Effect.provide(service(120)))
  )

  it.effect("fails a call at once, with the predicted wait, when the allowance refills after its deadline", () =>
    Effect.gen(function* () {
      const ask = Images.use((images) => images.saved({ deadline: "10 seconds" }))
      for (let i = 0; i < 5; i++) yield* ask
      const { attempts, reason } = yield* Effect.flip(ask)
      assert.strictEqual(reason._tag, "WouldExceedDeadline")
      if (reason._tag === "WouldExceedDeadline") {
        assert.strictEqual(reason.leftMillis, 10_000)
        assert.closeTo(reason.predictedMillis, hour, 3000)
      }
      assert.isEmpty(attempts)
      assert.strictEqual(yield* refused, 0)
    }).pipe(Effect.provide(service(5)))
  )

  it.effect("gives the place of an interrupted call to the next call", () =>
    Effect.gen(function* () {
      const ask = Images.use((images) => images.saved({ deadline: "1 day" }))
      for (let i = 0; i < 5; i++) yield* ask
      const first = yield* Effect.forkChild(ask)
      const second = yield* Effect.forkChild(ask)
      yield* runReady
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("62 minutes")
      yield* runReady
      assert.isTrue(Exit.isSuccess(yield* Fiber.await(second)))
      assert.strictEqual(yield* refused, 0)
    }).pipe(Effect.provide(service(5)))
  )
})
