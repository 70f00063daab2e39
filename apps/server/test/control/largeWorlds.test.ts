import { expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { TestServer } from "../../src/testing.ts"
import { type Account, callAs, errorsOf, nodeOf } from "../http/service.ts"
import { control } from "./plane.ts"

const nodesOf = (world: string) => Effect.map(control("GET", `/worlds/${world}`), ({ json }) => json.nodes)

layer(TestServer.layer())("a fleet of 50 000 nodes", (it) => {
  it.effect("is made, listed, searched and reset", () =>
    Effect.gen(function* () {
      const { json, status } = yield* control("POST", "/worlds", { scenario: "fleet:50000", seed: 7 })
      const before = (yield* control("GET", `/${json.id}/nodes?skip=49990`)).json
      expect([status, before.length]).toEqual([201, 10])
      yield* control("PATCH", `/${json.id}/nodes/${before[0].id}`, { locked: true })
      expect((yield* control("POST", `/${json.id}/reset`)).json.nodes).toBe(50_000)
      expect((yield* control("GET", `/${json.id}/nodes?skip=49990`)).json).toEqual(before)
      expect((yield* control("POST", `/${json.id}/clock`, { advanceTo: "next-event" })).json.events).toEqual([])
      yield* control("DELETE", `/worlds/${json.id}`)
    })
  )

  it.effect("ends when its clock moves on, and its last deleted nodes stay known", () =>
    Effect.gen(function* () {
      const options = { scenario: "fleet:50000", clock: "frozen", outcomes: { vanishes: 1 }, outcomeAfter: "365 days" }
      const { id } = (yield* control("POST", "/worlds", options)).json
      expect(yield* nodesOf(id)).toBe(50_000)
      const advanced = yield* control("POST", `/${id}/clock`, { advance: "366 days" })
      expect(advanced.json.now).toBe("2027-01-02T00:00:00.000Z")
      expect(yield* nodesOf(id)).toBe(0)
      const { gone } = (yield* control("GET", `/${id}/snapshot`)).json
      expect([gone.length, gone.at(-1).name]).toEqual([256, "fleet-50000"])
    })
  )

  it.effect("that ended while nothing was asked is cleared away, whatever is asked first", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const vanishing = { scenario: "fleet:20000", clock: "real", outcomes: { vanishes: 1 }, outcomeAfter: "365 days" }
      for (const ask of [
        (world: Account) => Effect.map(callAs(world, "GET", "/nodes/"), ({ json }) => json.data.length),
        (world: Account) =>
          Effect.map(callAs(world, "POST", "/nodes/", { body: nodeOf("web") }), ({ status }) => status - 202),
        (_: Account, id: string) =>
          Effect.map(control("GET", "/worlds"), ({ json }) => json.find((one: { id: string }) => one.id === id).nodes)
      ]) {
        const { accessToken, apiKey, id } = (yield* control("POST", "/worlds", vanishing)).json
        const world = {
          baseUrl,
          apiKey: Redacted.make<string>(apiKey),
          accessToken: Redacted.make<string>(accessToken)
        }
        expect(yield* nodesOf(id)).toBe(20_000)
        yield* TestClock.adjust("366 days")
        expect(yield* ask(world, id)).toBe(0)
        yield* control("DELETE", `/worlds/${id}`)
      }
    })
  )
})

layer(TestServer.layer({ nodes: [{ name: "web" }] }))("the nodes of all worlds together", (it) => {
  it.effect("are bounded: a world beyond is refused by the field that asks for them, before it is made", () =>
    Effect.gen(function* () {
      const result = yield* control("POST", "/worlds", { scenario: "fleet:5000000" })
      expect(errorsOf(result, 409)).toEqual({ scenario: ["All worlds together may have 5000000 nodes."] })
      expect(result.json.message).toBe(
        "All worlds together may have 5000000 nodes: they have 1, and these are 5000000 more."
      )
      expect((yield* control("GET", "/worlds")).json.length).toBe(1)
      expect((yield* control("POST", "/worlds", { scenario: "small" })).status).toBe(201)
    })
  )

  it.effect("are bounded in a reset, too", () =>
    Effect.gen(function* () {
      const { id } = (yield* control("POST", "/worlds")).json
      const snapshot = (yield* control("GET", `/${id}/snapshot`)).json
      const settings = { ...snapshot.settings, scenario: { fleet: 5_000_000 } }
      expect((yield* control("PUT", `/${id}/snapshot`, { ...snapshot, settings })).status).toBe(200)
      expect(Object.keys(errorsOf(yield* control("POST", `/${id}/reset`), 409))).toEqual(["scenario"])
      expect(yield* nodesOf(id)).toBe(0)
    })
  )
})
