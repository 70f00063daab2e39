/**
 * A service that restarts: the default retries outlast it.
 */
import { layer, ok, scripted } from "@berthkit/core/testing"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Berth from "../../../src/client/Berth.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { inTime } from "../../inTime.ts"

const node = ok({ id: 7, name: "web", created_at: "2026-03-01T10:20:30Z" })
const get = Nodes.use((nodes) => nodes.get(NodeId.make(7)))

const refusal = Effect.fail(
  Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", syscall: "connect" })
)

describe("a service that restarts", () => {
  /** A service that refuses connections until this time. */
  const awayUntil = (millis: number) => () =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => (now < millis ? refusal : Effect.succeed(node)))

  for (const [callers, millis] of [
    [5, 3000],
    [20, 1200],
    [200, 1200],
    [200, 5000]
  ] as const) {
    it.effect(`is outlasted by ${callers} calls at once while it refuses connections for ${millis} ms`, () =>
      Effect.gen(function* () {
        const nodes = yield* inTime(Effect.replicateEffect(get, callers, { concurrency: "unbounded" }))
        assert.lengthOf(nodes, callers)
        assert.isBelow(yield* Clock.currentTimeMillis, 20_000)
      }).pipe(Effect.provide(layer(awayUntil(millis))))
    )
  }

  it.effect("and opens the breaker, which calls of one attempt do, fails no call that may be sent again", () =>
    Effect.gen(function* () {
      const hasty = Nodes.use((nodes) => nodes.get(NodeId.make(7), { retry: false }))
      yield* Effect.replicateEffect(Effect.ignore(hasty), 10)
      assert.strictEqual((yield* Effect.flip(hasty)).reason._tag, "CircuitOpen")
      const nodes = yield* inTime(Effect.replicateEffect(get, 20, { concurrency: "unbounded" }))
      assert.lengthOf(nodes, 20)
      assert.isBelow(yield* Clock.currentTimeMillis, 10_000)
    }).pipe(Effect.provide(layer(awayUntil(1200))))
  )

  it.effect("until the breaker opens again fails the waiting calls", () =>
    Effect.gen(function* () {
      const hasty = Nodes.use((nodes) => nodes.get(NodeId.make(7), { retry: false }))
      yield* Effect.replicateEffect(Effect.ignore(hasty), 10)
      const error = yield* inTime(Effect.andThen(Effect.delay(Effect.ignore(hasty), "2 seconds"), Effect.flip(get)))
      assert.strictEqual(error.reason._tag, "CircuitOpen")
      assert.lengthOf(error.attempts, 0)
      assert.isBelow(yield* Clock.currentTimeMillis, 3000)
    }).pipe(Effect.provide(layer(awayUntil(60_000))))
  )

  it.effect("gives the turn of a call that is interrupted to another", () =>
    Effect.gen(function* () {
      // The calls take turns, 20 a second, so most of the turns come after the timeout.
      const many = Effect.replicateEffect(get, 600, { concurrency: "unbounded" })
      yield* inTime(Effect.timeoutOption(many, "2 seconds"))
      const before = yield* Clock.currentTimeMillis
      yield* inTime(Effect.timeout(get, "20 seconds"))
      assert.isBelow((yield* Clock.currentTimeMillis) - before, 10_000)
    }).pipe(Effect.provide(layer(awayUntil(5000))))
  )

  it.effect("fails the call after the client's maximum of attempts", () => {
    const service = scripted(() => refusal)
    return Effect.gen(function* () {
      const error = yield* inTime(Effect.flip(get))
      assert.strictEqual(error.reason._tag, "Unreachable")
      assert.lengthOf(service.requests, 2)
      assert.lengthOf(error.attempts, 2)
    }).pipe(Effect.provide(layer(service, { maxAttempts: 2 })))
  })

  it.live("is outlasted over real sockets for a second", () =>
    Effect.gen(function* () {
      const start = (port: number) =>
        Effect.promise(
          () =>
            new Promise<Server>((resolve) => {
              const server = createServer((_, response) => response.end(node.body))
              server.listen(port, "127.0.0.1", () => resolve(server))
            })
        )
      const stop = (server: Server) =>
        Effect.promise(() => {
          server.closeAllConnections()
          return new Promise((resolve) => server.close(resolve))
        })
      const first = yield* start(0)
      const { port } = first.address() as AddressInfo
      const client = Berth.layer({
        baseUrl: `http://127.0.0.1:${port}`,
        credentials: { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }
      }).pipe(Layer.provide(FetchHttpClient.layer))
      yield* Effect.gen(function* () {
        yield* get
        yield* stop(first)
        const [{ id }] = yield* Effect.all([get, Effect.delay(start(port), "1 second")], { concurrency: 2 }).pipe(
          Effect.tap(([, second]) => Effect.addFinalizer(() => stop(second)))
        )
        assert.strictEqual(id, 7)
      }).pipe(Effect.provide(client), Effect.scoped)
    })
  )
})
