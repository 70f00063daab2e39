/** Exactly-once creation against the mock service over real sockets, with lost replies and killed processes. */
import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer, type TestWorld } from "@berthkit/server/testing"
import { Nodes } from "@berthkit/core/client/Nodes"
import { clientOf, inDialect } from "../../account.ts"
import { countAll, killAfter, makersIn, plenty } from "./makers.ts"

const plan = "C-4VCPU-16RAM-100DISK"
const image = "Ubuntu-24.04"

const nodesOf = (world: TestWorld) => Effect.orDie(world.control.nodes.list({ params: { world: world.id }, query: {} }))

/** The number of creates: a multiple of three, because every third fails. */
const count = isSoak ? 999 : 60

describe("creates make exactly as many nodes as were asked for", () => {
  for (const [fault, what] of [
    ["create-lost-reply", "with every third reply lost"],
    ["create-false-negative", "with every third answered with a 500 although it was done"]
  ] as const) {
    it.live(what, () =>
      Effect.gen(function* () {
        const server = yield* TestServer
        const world = yield* server.makeWorld(inDialect({ clock: "real", rateLimit: plenty }))
        yield* world.arm([{ fault, every: 3 }])
        const creations = yield* Effect.forEach(
          Array.from({ length: count }, (_, i) => i),
          (i) => Nodes.use((nodes) => nodes.create({ name: `node-${i}`, plan, image })),
          { concurrency: 16 }
        ).pipe(Effect.provide(clientOf(world)))
        yield* world.arm([])
        const made = yield* countAll(world)
        assert.strictEqual(made, count)
        assert.strictEqual(new Set(creations.map(({ node }) => node.id)).size, count)
        assert.strictEqual(creations.filter(({ outcome }) => outcome === "adopted").length, count / 3)
      }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
    )
  }
})

describe("two processes that ask for the same creates at once", () => {
  it.live("make exactly as many nodes as were asked for", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const world = yield* server.makeWorld(inDialect({ clock: "real", rateLimit: plenty }))
      // The delay leaves enough time between reading and writing an intent that both processes find none.
      yield* world.arm([{ fault: "latency", delay: "500 millis", scope: { operation: "nodes.list" } }])
      const start = yield* makersIn(world, isSoak ? 20 : 8)
      const makers = yield* Effect.all([start, start])
      yield* Effect.promise(() => Promise.all(makers.map((maker) => maker.succeeded())))
      assert.strictEqual((yield* nodesOf(world)).length, isSoak ? 20 : 8)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("a process that is killed while it creates", () => {
  it.live("is finished by the next one, with exactly as many nodes as were asked for", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const world = yield* server.makeWorld(inDialect({ clock: "real", rateLimit: plenty }))
      const asked = isSoak ? 40 : 12
      const start = yield* makersIn(world, asked)
      yield* killAfter(world, start, 4)
      const second = yield* start
      yield* Effect.promise(() => second.succeeded())
      assert.strictEqual((yield* nodesOf(world)).length, asked)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})
