import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import fc from "fast-check"
import { TestServer, type TestServerOptions, type TestWorld } from "../../src/testing.ts"
import { allowanceOf, call, callAs, errorsOf, nodeOf, prefix, requestAs, send } from "./service.ts"

const seed = 20_260_101

/** The credentials that a request can have. Each of these names one world. */
const credentials = ["good", "bad token", "no token", "bad key", "no key", "bad x-api-key", "other token"] as const
const nobody = ["none", "unknown"] as const

interface Step {
  /** The index of the world that the request is for. */
  readonly of: number
  readonly as: (typeof credentials)[number] | (typeof nobody)[number]
  readonly does: "list" | "get" | "create" | "mistake" | "lost" | "preflight" | "advance"
}

const step = fc.record({
  of: fc.nat({ max: 2 }),
  as: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...credentials) }, fc.constantFrom(...nobody)),
  does: fc.constantFrom<Array<Step["does"]>>("list", "get", "create", "mistake", "lost", "preflight", "advance")
})

const path = { list: "/nodes/", get: "/nodes/7/", create: "/nodes/", mistake: "/nodes/", lost: "/nowhere/" } as const

const perform = Effect.fnUntraced(function* ({ as, does, of }: Step, worlds: ReadonlyArray<TestWorld>) {
  const world = worlds[of]!
  if (does === "advance") return yield* Effect.as(world.advance("20 seconds"), "")
  const other = Redacted.value(worlds[(of + 1) % worlds.length]!.accessToken)
  const [url, init] = requestAs(world, "GET", does === "preflight" ? path.list : path[does], {
    ...(as === "bad key" || as === "unknown"
      ? { key: "unknown" }
      : as === "no key" || as === "none"
        ? { key: null }
        : {}),
    ...(as === "bad token" || as === "unknown"
      ? { token: "unknown" }
      : as === "no token" || as === "none" || does === "preflight"
        ? { token: null }
        : as === "other token"
          ? { token: other }
          : {}),
    headers: {
      ...(as === "bad x-api-key" ? { "x-api-key": "unknown" } : {}),
      ...(does === "preflight" ? { origin: "http://page.test", "access-control-request-method": "GET" } : {})
    }
  })
  const method = does === "preflight" ? "OPTIONS" : does === "create" || does === "mistake" ? "POST" : "GET"
  const response = yield* HttpClient.execute(
    HttpClientRequest.make(method)(url, {
      headers: init.headers,
      body: method === "POST" ? HttpBody.jsonUnsafe(does === "create" ? nodeOf("web") : { name: 1 }) : HttpBody.empty
    })
  )
  return `${response.status} ${JSON.stringify(response.headers)} ${yield* response.text}`
})

/** Whether a request shows its world; a preflight shows no token. */
const names = ({ as, does }: Step): boolean =>
  as !== "none" && as !== "unknown" && (does !== "preflight" || (as !== "no key" && as !== "bad key"))

const options: TestServerOptions = {
  clock: "frozen",
  rateLimit: { limit: 3, window: "1 minute" },
  cors: ["http://page.test"]
}

/** The replies to these steps on a new server, in which each world has a different state. */
const replies = (steps: ReadonlyArray<Step>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const worlds = [
        yield* makeWorld({ ...options, startAt: "2027-01-01T00:00:00Z", provisioning: "30 seconds" }),
        yield* makeWorld({ ...options, startAt: "2028-01-01T00:00:00Z", rateLimit: { limit: 4, window: "1 minute" } }),
        yield* makeWorld({
          ...options,
          startAt: "2029-01-01T00:00:00Z",
          nodes: [{ name: "web", id: 7 }],
          auth: "key-only"
        })
      ]
      return yield* Effect.forEach(steps, (one) => perform(one, worlds))
    })
  ).pipe(Effect.provide(TestServer.layerHttpClient(options)))

describe("worlds", () => {
  it.effect("never influence each other: a world replies as it does alone, to the byte", () =>
    Effect.gen(function* () {
      let compared = 0
      for (const steps of fc.sample(fc.array(step, { minLength: 10, maxLength: 40 }), { numRuns: 30, seed })) {
        const together = yield* replies(steps)
        for (const of of [0, 1, 2]) {
          const own = steps.filter((one) => one.of === of && (names(one) || one.does === "advance"))
          const expected = steps.flatMap((one, index) => (own.includes(one) ? [together[index]] : []))
          expect(yield* replies(own)).toEqual(expected)
          compared += own.length
        }
      }
      assert(compared > 400, `${compared} replies`)
    })
  )

  it.effect("a good key with a bad token is shown the clock of its world, and spends its allowance", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const world = yield* makeWorld({ clock: "frozen", startAt: "2030-05-01T00:00:00Z", rateLimit: { limit: 2 } })
      const refused = yield* callAs(world, "GET", "/nodes/", { token: "unknown" })
      errorsOf(refused, 401)
      expect(refused.headers.get("date")).toBe("Wed, 01 May 2030 00:00:00 GMT")
      expect(allowanceOf(refused.headers).slice(0, 2)).toEqual([2, 1])
      yield* callAs(world, "GET", "/nodes/", { key: "unknown" })
      errorsOf(yield* callAs(world, "GET", "/nodes/"), 429)
      yield* world.control.worlds.reset({ params: { world: world.id } })
      expect((yield* callAs(world, "GET", "/nodes/")).status).toBe(200)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.effect("a preflight is shown the clock of the world whose key it has", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const world = yield* makeWorld({ clock: "frozen", startAt: "2030-05-01T00:00:00Z" })
      const { date } = Object.fromEntries(
        (yield* send(`${world.baseUrl}${prefix}/nodes/?apikey=${Redacted.value(world.apiKey)}`, {
          method: "OPTIONS",
          headers: { origin: "http://page.test", "access-control-request-method": "GET" }
        })).headers
      )
      expect(date).toBe("Wed, 01 May 2030 00:00:00 GMT")
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer({ cors: ["http://page.test"] })))
  )

  it.effect("what names no world spends a bucket of the server, which begins anew with a reset of default", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const spent = Effect.map(call("GET", "/nodes/", { key: null, token: null }), ({ headers }) =>
        allowanceOf(headers)
      )
      expect((yield* spent).slice(0, 2)).toEqual([1_000_000, 999_999])
      expect((yield* spent).slice(0, 2)).toEqual([1_000_000, 999_998])
      yield* server.control.worlds.reset({ params: { world: "default" } })
      expect((yield* spent).slice(0, 2)).toEqual([1_000_000, 999_999])
      expect((yield* call("GET", "/nodes/")).status).toBe(200)
    }).pipe(Effect.provide(TestServer.layer({ rateLimit: { limit: 1 }, clock: "frozen" })))
  )
})
