import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { TestServer } from "../../src/testing.ts"
import { type Account, callAs, errorsOf, nodeOf } from "../http/service.ts"
import { control } from "./plane.ts"

/** How many turns the event loop takes meanwhile, and what the effect gives. */
const countingTurns = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    let turns = 0
    let isOver = false
    const count = () => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const result = yield* Effect.ensuring(
      self,
      Effect.sync(() => (isOver = true))
    )
    return { result, turns }
  })

const nodesOf = (world: string) => Effect.map(control("GET", `/worlds/${world}`), ({ json }) => json.nodes)

layer(TestServer.layer())("a fleet of 50 000 nodes", (it) => {
  it.effect("is made and reset in steps, between which the server answers others", () =>
    Effect.gen(function* () {
      const made = yield* countingTurns(control("POST", "/worlds", { scenario: "fleet:50000", seed: 7 }))
      const { id } = made.result.json
      const before = (yield* control("GET", `/${id}/nodes?skip=49990`)).text
      expect([made.result.status, made.turns >= 50]).toEqual([201, true])
      yield* control("PATCH", `/${id}/nodes/${JSON.parse(before)[0].id}`, { locked: true })
      const reset = yield* countingTurns(control("POST", `/${id}/reset`))
      expect([reset.result.json.nodes, reset.turns >= 50]).toEqual([50_000, true])
      const next = yield* countingTurns(control("POST", `/${id}/clock`, { advanceTo: "next-event" }))
      expect([next.result.json.events, next.turns >= 50]).toEqual([[], true])
      yield* control("DELETE", `/worlds/${id}`)
    })
  )

  it.effect("ends in steps, too, when its clock moves on, and the nodes that went last are known", () =>
    Effect.gen(function* () {
      const options = { scenario: "fleet:50000", clock: "frozen", outcomes: { vanishes: 1 }, outcomeAfter: "365 days" }
      const { id } = (yield* control("POST", "/worlds", options)).json
      expect(yield* nodesOf(id)).toBe(50_000)
      const advanced = yield* countingTurns(control("POST", `/${id}/clock`, { advance: "366 days" }))
      expect([advanced.result.json.now, advanced.turns >= 20]).toEqual(["2027-01-02T00:00:00.000Z", true])
      expect(yield* nodesOf(id)).toBe(0)
      const { gone } = (yield* control("GET", `/${id}/snapshot`)).json
      expect([gone.length, gone.at(-1).name]).toEqual([256, "fleet-50000"])
    })
  )

  it.effect("that ended while nothing was asked is cleared away in steps, whatever is asked first", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const vanishing = { scenario: "fleet:20000", clock: "real", outcomes: { vanishes: 1 }, outcomeAfter: "365 days" }
      const begin = Effect.map(control("POST", "/worlds", vanishing), ({ json }) => ({
        id: json.id as string,
        baseUrl,
        apiKey: Redacted.make<string>(json.apiKey),
        accessToken: Redacted.make<string>(json.accessToken)
      }))
      for (const ask of [
        (world: Account) => Effect.map(callAs(world, "GET", "/nodes/"), ({ json }) => json.data.length),
        (world: Account) =>
          Effect.map(callAs(world, "POST", "/nodes/", { body: nodeOf("web") }), ({ status }) => status - 202)
      ]) {
        const world = yield* begin
        expect(yield* nodesOf(world.id)).toBe(20_000)
        yield* TestClock.adjust("366 days")
        const { result, turns } = yield* countingTurns(ask(world))
        expect([result, turns >= 20]).toEqual([0, true])
        yield* control("DELETE", `/worlds/${world.id}`)
      }
    })
  )

  it.effect("is 401 where its world was deleted while what had ended was cleared away", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const vanishing = { scenario: "fleet:50000", clock: "real", outcomes: { vanishes: 1 }, outcomeAfter: "365 days" }
      const { accessToken, apiKey, id } = (yield* control("POST", "/worlds", vanishing)).json
      const account = {
        baseUrl,
        apiKey: Redacted.make<string>(apiKey),
        accessToken: Redacted.make<string>(accessToken)
      }
      yield* TestClock.adjust("366 days")
      const [listed, deleted] = yield* Effect.all(
        [callAs(account, "GET", "/nodes/"), control("DELETE", `/worlds/${id}`)],
        { concurrency: "unbounded" }
      )
      expect(deleted.status).toBe(204)
      errorsOf(listed, 401)
    })
  )

  it.effect("takes its turn with another, and both are there in the end", () =>
    Effect.gen(function* () {
      const make = control("POST", "/worlds", { scenario: "fleet:50000" })
      const made = yield* Effect.all([make, make, make], { concurrency: "unbounded" })
      expect(made.map(({ status }) => status)).toEqual([201, 201, 201])
      expect(new Set(made.map(({ json }) => json.apiKey)).size).toBe(3)
      for (const { json } of made) expect(yield* nodesOf(json.id)).toBe(50_000)
    })
  )

  /** Begins a long request, and gives its reply once it has been followed by others. */
  const during = <A, E, R>(long: ReturnType<typeof control>, others: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(long)
      yield* control("GET", "/health")
      yield* others
      expect(fiber.pollUnsafe()).toBe(undefined)
      return yield* Fiber.join(fiber)
    })

  const remove = (id: string) => control("DELETE", `/worlds/${id}`)

  it.effect("is no longer there when its world was deleted while it was reset, searched or advanced", () =>
    Effect.gen(function* () {
      const fleet = { scenario: "fleet:200000", clock: "frozen", outcomes: { vanishes: 1 }, outcomeAfter: "365 days" }
      for (const [path, body] of [
        ["reset"],
        ["clock", { advanceTo: "next-event" }],
        ["clock", { advance: "366 days" }]
      ] as const) {
        const { id } = (yield* control("POST", "/worlds", fleet)).json
        errorsOf(yield* during(control("POST", `/${id}/${path}`, body), remove(id)), 404)
        errorsOf(yield* control("GET", `/worlds/${id}`), 404)
      }
    })
  )

  it.effect("gives way to a world that is restored meanwhile: that one is reset, and searched", () =>
    Effect.gen(function* () {
      const small = (yield* control("POST", "/worlds", { clock: "frozen", provisioning: "1 hour" })).json
      const snapshot = (yield* control("GET", `/${small.id}/snapshot`)).json
      const { id } = (yield* control("POST", "/worlds", { clock: "frozen", scenario: "fleet:200000" })).json
      const settings = { ...snapshot.settings, scenario: "small" }
      const restore = control("PUT", `/${id}/snapshot`, { ...snapshot, settings })
      expect((yield* during(control("POST", `/${id}/reset`), restore)).json.nodes).toBe(5)
      expect(yield* nodesOf(id)).toBe(5)
      yield* remove(id)
      const other = (yield* control("POST", "/worlds", { clock: "frozen", scenario: "fleet:200000" })).json
      const created = { ...snapshot, settings: { ...settings, nodes: [{ name: "web", status: "created" }] } }
      expect((yield* control("PUT", `/${small.id}/snapshot`, created)).status).toBe(200)
      yield* control("POST", `/${small.id}/reset`)
      const begun = (yield* control("GET", `/${small.id}/snapshot`)).json
      const replaced = control("PUT", `/${other.id}/snapshot`, begun)
      const next = yield* during(control("POST", `/${other.id}/clock`, { advanceTo: "next-event" }), replaced)
      expect(next.json).toMatchObject({
        now: "2026-01-01T01:00:00.000Z",
        events: [{ kind: "provisioning-ends", at: "2026-01-01T01:00:00.000Z" }]
      })
      yield* remove(other.id)
    })
  )
})

describe("the nodes of all worlds together", () => {
  layer(TestServer.layer({ nodes: [{ name: "web" }] }))((it) => {
    it.effect("are bounded: a world beyond is refused by the field that asks for them, before it is made", () =>
      Effect.gen(function* () {
        const { turns, result } = yield* countingTurns(control("POST", "/worlds", { scenario: "fleet:5000000" }))
        expect(errorsOf(result, 409)).toEqual({ scenario: ["There may be 5000000 nodes in all worlds together."] })
        expect(result.json.message).toBe(
          "There may be 5000000 nodes in all worlds together: 1 are there, and these are 5000000 more."
        )
        expect(turns).toBeLessThan(50)
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
})
