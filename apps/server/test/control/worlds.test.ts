import { assert, describe, expect, it, layer } from "@effect/vitest"
import { Effect, Exit, Redacted } from "effect"
import { TestServer } from "../../src/testing.ts"
import { callAs, errorsOf, nodeOf, prefix, send } from "../http/service.ts"
import { control, createIn, statusIn } from "./plane.ts"

layer(TestServer.layer())("worlds on one server", (it) => {
  it.effect("50 of them, used at the same time, never see each other's nodes, clock or allowance", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const useOne = (number: number) =>
        Effect.gen(function* () {
          const world = yield* server.makeWorld({
            seed: number,
            rateLimit: { limit: 100 + number, window: 60_000, algorithm: "fixed-window" }
          })
          const names: Array<string> = []
          for (let i = 0; i < 1 + (number % 4); i++) {
            names.push(`node-${number}-${i}`)
            yield* createIn(world, names[i]!)
            yield* world.advance(`${number} seconds`)
          }
          const list = yield* callAs(world, "GET", "/nodes/")
          return {
            id: world.id,
            names: list.json.data.map(({ name }: { name: string }) => name),
            expected: names,
            date: Date.parse(list.headers.get("date")!) - Date.UTC(2026, 0, 1),
            expectedDate: number * names.length * 1000,
            spent: number + 100 - Number(list.headers.get("ratelimit-remaining")),
            expectedSpent:
              (number * names.length) % 60 === 0 || number * names.length > 60 ? undefined : names.length + 1
          }
        })
      const seen = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, index) => index + 1),
        useOne,
        { concurrency: "unbounded" }
      )
      expect(new Set(seen.map(({ id }) => id)).size).toBe(50)
      for (const one of seen) {
        expect(one.names).toEqual(one.expected)
        expect(one.date).toBe(one.expectedDate)
        if (one.expectedSpent !== undefined) expect(one.spent).toBe(one.expectedSpent)
      }
      expect(seen.filter(({ expectedSpent }) => expectedSpent !== undefined).length).toBeGreaterThan(20)
    })
  )

  it.effect("know no credentials of each other: key and token of two worlds are 403", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const [one, other] = [yield* server.makeWorld(), yield* server.makeWorld()]
      const mixed = yield* callAs({ ...one, accessToken: other.accessToken }, "GET", "/nodes/")
      errorsOf(mixed, 403)
      expect((yield* callAs(one, "GET", "/nodes/")).status).toBe(200)
    })
  )

  it.effect("begin as asked for, in every respect", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const made = yield* control("POST", "/worlds", {
        seed: 7,
        clock: "frozen",
        provisioning: "10 seconds",
        termination: "3s",
        scenario: "small",
        uniqueNames: true,
        auth: "key-only",
        deleteStyle: "enveloped",
        rateLimit: { limit: 50, window: "1 minute", algorithm: "sliding-window" },
        apiKey: "my-key",
        accessToken: "my-token"
      })
      expect(made.status).toBe(201)
      expect(made.json).toEqual({ id: expect.stringMatching(/^w\d+$/), apiKey: "my-key", accessToken: "my-token" })
      const call = (method: string, path: string, body?: unknown) =>
        send(`${baseUrl}${prefix}${path}?apikey=my-key`, {
          method,
          headers: { "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
      const list = yield* call("GET", "/nodes/")
      expect(list.json.data.length).toBe(5)
      expect(list.headers.get("ratelimit-limit")).toBe("50")
      const created = yield* call("POST", "/nodes/", nodeOf("new"))
      errorsOf(yield* call("POST", "/nodes/", nodeOf("new")), 409)
      const { id } = created.json.data
      yield* control("POST", `/worlds/${made.json.id}/clock`, { advance: "9999ms" })
      expect((yield* call("GET", `/nodes/${id}/`)).json.data.status).toBe("created")
      yield* control("POST", `/worlds/${made.json.id}/clock`, { advance: "1ms" })
      expect((yield* call("GET", `/nodes/${id}/`)).json.data.status).toBe("running")
      expect((yield* call("DELETE", `/nodes/${id}/`)).json.message).toBe("Success")
      yield* control("POST", `/worlds/${made.json.id}/clock`, { advance: "3 seconds" })
      errorsOf(yield* call("GET", `/nodes/${id}/`), 404)
    })
  )

  it.effect("are made from nothing at all, and gone when deleted", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const { json, status } = yield* control("POST", "/worlds")
      expect(status).toBe(201)
      const world = { baseUrl, apiKey: Redacted.make(json.apiKey), accessToken: Redacted.make(json.accessToken) }
      expect((yield* callAs(world, "GET", "/nodes/")).status).toBe(200)
      expect((yield* control("DELETE", `/worlds/${json.id}`)).status).toBe(204)
      errorsOf(yield* callAs(world, "GET", "/nodes/"), 401)
      errorsOf(yield* control("GET", `/worlds/${json.id}`), 404)
      errorsOf(yield* control("DELETE", `/worlds/${json.id}`), 404)
    })
  )

  it.effect("are back at their beginning when a reset has answered, with the same credentials", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({ scenario: "small", seed: 3 })
      const before = yield* callAs(world, "GET", "/nodes/")
      yield* createIn(world, "extra")
      yield* world.advance("1 day")
      expect((yield* control("POST", `/worlds/${world.id}/reset`)).status).toBe(200)
      const after = yield* callAs(world, "GET", "/nodes/")
      expect([after.text, [...after.headers]]).toEqual([before.text, [...before.headers]])
    })
  )

  it.effect("refuse unknown options by name, and then none is made", () =>
    Effect.gen(function* () {
      const count = Effect.map(control("GET", "/worlds"), ({ json }) => json.length as number)
      const before = yield* count
      const errors = errorsOf(
        yield* control("POST", "/worlds", {
          seed: 1.5,
          clock: "x0.5",
          provisioning: "soon",
          scenario: "fleet:6000000",
          rateLimit: { limit: 0, window: "0s", size: 3 },
          lives: [{ nodes: "*", outcomes: { runs: 0 } }],
          auth: "none",
          apiKey: "with space",
          colour: "blue"
        }),
        422
      )
      expect(Object.keys(errors).sort()).toEqual(
        [
          "apiKey",
          "auth",
          "clock",
          "colour",
          "lives.0.outcomes",
          "provisioning",
          "rateLimit.limit",
          "rateLimit.size",
          "rateLimit.window",
          "scenario",
          "seed"
        ].sort()
      )
      expect(errors["lives.0.outcomes"]).toEqual(["Expected at least one weight above 0."])
      errorsOf(yield* control("POST", "/worlds", []), 422)
      const { baseUrl } = yield* TestServer
      const raw = (body: string, type: string) =>
        send(`${baseUrl}/_mock/worlds`, { method: "POST", body, headers: { "content-type": type } })
      errorsOf(yield* raw("{", "application/json"), 400)
      errorsOf(yield* raw("seed: 1", "text/yaml"), 415)
      errorsOf(yield* control("POST", "/worlds", { apiKey: "berth-key" }), 409)
      expect(yield* count).toBe(before)
    })
  )

  it.effect("keep the main one: it can be reset, not deleted", () =>
    Effect.gen(function* () {
      errorsOf(yield* control("DELETE", "/worlds/default"), 409)
      expect((yield* control("GET", "/worlds/default")).json.id).toBe("default")
    })
  )

  it.effect("are read without allowance, and without credentials", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld()
      for (let i = 0; i < 5; i++) yield* control("GET", `/worlds/${world.id}`)
      const reply = yield* control("GET", `/worlds/${world.id}`)
      expect(reply.headers.get("ratelimit-limit")).toBeNull()
      expect(reply.json.allowance.remaining).toBe(1200)
      expect((yield* callAs(world, "GET", "/nodes/")).headers.get("ratelimit-remaining")).toBe("1199")
    })
  )

  it.effect("may be named right after the prefix, where an unknown one is 404, too", () =>
    Effect.gen(function* () {
      const { id } = yield* (yield* TestServer).makeWorld()
      expect((yield* control("POST", `/${id}/clock`, { advance: "1s" })).json.now).toBe("2026-01-01T00:00:01.000Z")
      errorsOf(yield* control("GET", "/w9999/clock"), 404)
    })
  )

  it.effect("answer 405 with Allow to a wrong method, 404 to an unknown path, 204 to OPTIONS", () =>
    Effect.gen(function* () {
      const wrong = yield* control("PATCH", "/worlds")
      errorsOf(wrong, 405)
      expect(wrong.headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS")
      errorsOf(yield* control("GET", "/nothing"), 404)
      expect((yield* control("OPTIONS", "/worlds/default/snapshot")).headers.get("allow")).toBe(
        "GET, HEAD, PUT, OPTIONS"
      )
      expect((yield* control("GET", "/health")).json).toMatchObject({ status: "ok" })
    })
  )
})

describe("credentials that were not given", () => {
  const made = Effect.gen(function* () {
    const { json } = yield* control("POST", "/worlds")
    return json
  })
  const under = (seed: number) => made.pipe(Effect.provide(TestServer.layer({ seed }), { local: true }))

  it.effect("follow from the server's seed, and differ between seeds", () =>
    Effect.gen(function* () {
      const [first, again, other] = [yield* under(1), yield* under(1), yield* under(2)]
      expect(again).toEqual(first)
      expect(other.apiKey).not.toBe(first.apiKey)
      expect(first.apiKey).not.toBe(first.accessToken)
    })
  )
})

describe("a server that may be reached from elsewhere", () => {
  it.effect("asks each control request for the token before anything else", () =>
    Effect.gen(function* () {
      for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: "secret" }]) {
        const refused = yield* control("GET", "/nothing", undefined, headers)
        errorsOf(refused, 401)
        expect(refused.headers.get("www-authenticate")).toBe("Bearer")
      }
      const known = { authorization: "Bearer secret" }
      errorsOf(yield* control("GET", "/nothing", undefined, known), 404)
      expect((yield* control("GET", "/worlds", undefined, known)).status).toBe(200)
      const server = yield* TestServer
      expect((yield* server.control.health.get()).worlds).toBe(1)
    }).pipe(Effect.provide(TestServer.layer({ controlToken: Redacted.make("secret") })))
  )
})

describe("a world of a test", () => {
  it.effect("is gone after the test, whether it failed or not", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const ids: Array<string> = []
      const body = (fails: boolean) =>
        Effect.scoped(
          Effect.gen(function* () {
            const world = yield* server.makeWorld({ seed: 9 })
            ids.push(world.id)
            yield* createIn(world, "web")
            if (fails) return yield* Effect.fail("on purpose")
          })
        )
      const written: Array<string> = []
      const { write } = process.stderr
      process.stderr.write = ((text: string) => written.push(text) > 0) as typeof write
      const exits = yield* Effect.ensuring(
        Effect.forEach([false, true], (fails) => Effect.exit(body(fails))),
        Effect.sync(() => void (process.stderr.write = write))
      )
      expect(exits.map(Exit.isSuccess)).toEqual([true, false])
      // A failed test can be replayed, because the output has the values with which the world began.
      expect(written.join("")).toContain('POST /_mock/worlds {"seed":9,"clock":"frozen"}')
      for (const id of ids) errorsOf(yield* control("GET", `/worlds/${id}`), 404)
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("works without a socket just as well", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({ scenario: "small" })
      const [first] = yield* world.control.nodes.list({ params: { world: world.id }, query: {} })
      assert(first !== undefined)
      expect(first.status).toBe("running")
      yield* world.control.nodes.change({
        params: { world: world.id, id: first.id },
        payload: { status: "terminate" }
      })
      expect((yield* world.advanceToNextEvent).map(({ kind }) => kind)).toEqual(["termination-ends"])
      expect((yield* world.control.worlds.get({ params: { world: world.id } })).nodes).toBe(4)
    }).pipe(Effect.provide(TestServer.layerHttpClient()))
  )

  it.effect("shows the same node to every kind of request", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld()
      const id = yield* createIn(world, "web")
      expect(yield* statusIn(world, id)).toBe("created")
    }).pipe(Effect.provide(TestServer.layer()))
  )
})
