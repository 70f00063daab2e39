/**
 * Exactly-once creation against the mock service over real sockets, with replies that are lost and processes that die.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { TestServer, type TestWorld } from "@berth/server/testing"
import { Nodes } from "@berth/core/client/Nodes"
import { clientOf } from "../../account.ts"
import { countAll, makersIn, plenty } from "./makers.ts"

const plan = "C-4VCPU-16RAM-100DISK"
const image = "Ubuntu-24.04"

const nodesOf = (world: TestWorld) => Effect.orDie(world.control.nodes.list({ params: { world: world.id }, query: {} }))

describe("a thousand creates make exactly a thousand nodes", () => {
  for (const [fault, what] of [
    ["create-lost-reply", "with every third reply lost"],
    ["create-false-negative", "with every third answered with a 500 although it was done"]
  ] as const) {
    it.live(what, () =>
      Effect.gen(function* () {
        const server = yield* TestServer
        const world = yield* server.makeWorld({ clock: "real", rateLimit: plenty })
        yield* world.arm([{ fault, every: 3 }])
        const creations = yield* Effect.forEach(
          Array.from({ length: 1000 }, (_, i) => i),
          (i) => Nodes.use((nodes) => nodes.create({ name: `node-${i}`, plan, image })),
          { concurrency: 16 }
        ).pipe(Effect.provide(clientOf(world)))
        yield* world.arm([])
        const made = yield* countAll(world)
        assert.strictEqual(made, 1000)
        assert.strictEqual(new Set(creations.map(({ node }) => node.id)).size, 1000)
        assert.strictEqual(creations.filter(({ outcome }) => outcome === "adopted").length, 333)
      }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
    )
  }
})

describe("two processes that ask for the same creates at once", () => {
  it.live("make exactly as many nodes as were asked for", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const world = yield* server.makeWorld({ clock: "real", rateLimit: plenty })
      // Long enough between reading an intent and writing it for both to find none.
      yield* world.arm([{ fault: "latency", delay: "500 millis", scope: { operation: "nodes.list" } }])
      const start = yield* makersIn(world, 20)
      const makers = yield* Effect.all([start, start])
      yield* Effect.promise(() => Promise.all(makers.map((maker) => maker.succeeded())))
      assert.strictEqual((yield* nodesOf(world)).length, 20)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )
})

describe("a process that is killed while it creates", () => {
  it.live("is finished by the next one, with exactly as many nodes as were asked for", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const world = yield* server.makeWorld({ clock: "real", rateLimit: plenty })
      const start = yield* makersIn(world, 40)
      const first = yield* start
      yield* Effect.repeat(nodesOf(world), {
        until: (nodes) => nodes.length >= 15,
        schedule: Schedule.spaced("10 millis")
      })
      yield* Effect.promise(() => first.kill())
      const second = yield* start
      yield* Effect.promise(() => second.succeeded())
      assert.strictEqual((yield* nodesOf(world)).length, 40)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )
})
