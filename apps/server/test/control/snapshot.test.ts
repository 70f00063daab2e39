import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer, type TestWorld } from "../../src/testing.ts"
import { callAs, errorsOf, nodeOf } from "../http/service.ts"
import { control, createIn } from "./plane.ts"

/** Changes the world, so that there are differences. */
const live = (world: TestWorld) =>
  Effect.gen(function* () {
    const ids = []
    for (const name of ["a", "b", "c", "d"]) {
      ids.push(yield* createIn(world, name))
      yield* world.advance("1 seconds")
    }
    yield* callAs(world, "DELETE", `/nodes/${ids[0]}/`)
    yield* world.advance("5 seconds")
    yield* callAs(world, "DELETE", `/nodes/${ids[1]}/`)
    yield* control("PATCH", `/worlds/${world.id}/nodes/${ids[2]}`, { status: "power-off", locked: true })
    yield* control("POST", `/worlds/${world.id}/saved-images`, { name: "golden", nodeId: ids[2] })
  })

/** Replies that show all of a world, byte for byte. */
const replies = (world: TestWorld) =>
  Effect.gen(function* () {
    const seen = [
      yield* callAs(world, "GET", "/nodes/"),
      yield* callAs(world, "POST", "/nodes/", { body: nodeOf("next") }),
      yield* callAs(world, "GET", "/images/saved-images/")
    ]
    yield* world.advance("1 seconds")
    seen.push(yield* callAs(world, "GET", "/nodes/"), yield* callAs(world, "GET", "/images/"))
    return seen.map(({ headers, status, text }) => [status, text, [...headers]])
  })

describe("a world as a value", () => {
  for (const algorithm of ["fixed-window", "sliding-window", "token-bucket"] as const) {
    it.effect(`put into another world, on another server, gives the same bytes from then on: ${algorithm}`, () =>
      Effect.gen(function* () {
        const options = { seed: 11, scenario: "small", provisioningJitter: "9 seconds" } as const
        const { original, snapshot } = yield* Effect.gen(function* () {
          const world = yield* (yield* TestServer).makeWorld({
            ...options,
            outcomes: { runs: 2, stuck: 1, powersOff: 1 },
            rateLimit: { limit: 30, window: 20_000, algorithm }
          })
          yield* live(world)
          const { json } = yield* control("GET", `/worlds/${world.id}/snapshot`)
          return { snapshot: json, original: yield* replies(world) }
        }).pipe(Effect.provide(TestServer.layer(), { local: true }))

        const copy = yield* Effect.gen(function* () {
          const world = yield* (yield* TestServer).makeWorld({ seed: 99 })
          yield* createIn(world, "in the way")
          expect((yield* control("PUT", `/worlds/${world.id}/snapshot`, snapshot)).status).toBe(200)
          expect((yield* control("GET", `/worlds/${world.id}/snapshot`)).json).toEqual(snapshot)
          return yield* replies(world)
        }).pipe(Effect.provide(TestServer.layer({ seed: 5 }), { local: true }))
        expect(copy).toEqual(original)
      })
    )
  }

  it.effect("is exported and restored even if it is larger than a request to the service may be", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const fleet = yield* makeWorld({ scenario: { fleet: 12_000 } })
      const { json, text } = yield* control("GET", `/worlds/${fleet.id}/snapshot`)
      expect(text.length).toBeGreaterThan(1024 * 1024)
      const world = yield* makeWorld()
      const restored = yield* control("PUT", `/worlds/${world.id}/snapshot`, json)
      expect([restored.status, restored.json.nodes]).toEqual([200, 12_000])
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("an impossible one is refused by field, and the world stays as it was", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({ scenario: "small" })
      const path = `/worlds/${world.id}/snapshot`
      const { json: good } = yield* control("GET", path)
      const [first, second, ...rest] = good.nodes
      const bad: ReadonlyArray<readonly [field: string, value: unknown]> = [
        ["nodes.1.plan", { ...good, nodes: [first, { ...second, plan: "Z-1VCPU-1RAM-1DISK" }, ...rest] }],
        ["nodes.1.id", { ...good, nodes: [second, first, ...rest] }],
        ["nodes.0.createdAt", { ...good, nodes: [{ ...first, createdAt: "today" }] }],
        ["nodes.0.id", { ...good, nextNodeId: first.id }],
        ["nextNodeId", { ...good, nextNodeId: 1, nodes: [] }],
        ["savedImages.0", { ...good, savedImages: [{ ...good.savedImages[0], base: "BeOS-5" }] }],
        ["allowance", { ...good, allowance: { algorithm: "sliding-window", grants: [] } }],
        ["format", { ...good, format: "berth-world/0" }],
        ["extra", { ...good, extra: true }]
      ]
      for (const [field, value] of bad) {
        expect(Object.keys(errorsOf(yield* control("PUT", path, value), 422))).toEqual([field])
      }
      expect((yield* control("GET", path)).json).toEqual(good)
    }).pipe(Effect.provide(TestServer.layer()))
  )
})
