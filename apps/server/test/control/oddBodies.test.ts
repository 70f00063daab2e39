import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import fc from "fast-check"
import { TestServer } from "../../src/testing.ts"
import { call, errorsOf, expectFailure, nodeOf } from "../http/service.ts"
import { exchange } from "../transport/rawSocket.ts"
import { extremes } from "./extremes.ts"
import { control } from "./plane.ts"

/** The names that every object inherits. */
const inherited = ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"] as const

/** For every route that takes a body: a body that it accepts, in a world of the default seed and the scenario `small`. */
const routes = [
  {
    method: "POST",
    path: "/worlds",
    body: {
      seed: 7,
      clock: "frozen",
      lives: [{ nodes: "web-*", provisioning: "1 hour" }],
      rateLimit: { limit: 100, window: "1 minute" },
      outcomes: { runs: 1 }
    }
  },
  { method: "POST", path: "/worlds/default/clock", body: { advance: "9 seconds" } },
  { method: "PATCH", path: "/worlds/default/nodes/97898", body: { status: "power-off", locked: true } },
  { method: "POST", path: "/worlds/default/saved-images", body: { name: "golden", nodeId: 97_898 } },
  {
    method: "PUT",
    path: "/worlds/default/faults",
    body: [{ fault: "status", status: 503, times: 2, scope: { operation: "nodes.list", header: { "x-a": "b*" } } }]
  },
  {
    method: "POST",
    path: "/worlds/default/requests/verify",
    body: { expected: [{ method: "GET", path: "/a*", query: { a: "b" }, body: { a: [1] }, count: 0 }] }
  }
] as const

/** Objects in which any keys are allowed. */
const namedByWriters = /\.(header|query|body)$/

/** Every object within a value, with its path. */
const objectsIn = (value: unknown, path = ""): ReadonlyArray<readonly [path: string, object: object]> =>
  typeof value !== "object" || value === null
    ? []
    : [
        ...(Array.isArray(value) ? [] : [[path, value] as const]),
        ...Object.entries(value).flatMap(([key, part]) => objectsIn(part, path === "" ? key : `${path}.${key}`))
      ]

/** `value` with one more key in the object at `path`. */
const withKey = (value: unknown, path: string, key: string): string => {
  const marked = structuredClone(value)
  const [, object] = objectsIn(marked).find(([at]) => at === path)!
  Object.assign(object, { MARK: "1" })
  return JSON.stringify(marked).replace('"MARK"', JSON.stringify(key))
}

const sendText = (method: string, path: string, body: string) =>
  Effect.gen(function* () {
    const { baseUrl } = yield* TestServer
    const request = HttpClientRequest.make(method as "PUT")(`${baseUrl}/_mock${path}`).pipe(
      HttpClientRequest.bodyText(body, "application/json")
    )
    const reply = yield* HttpClient.execute(request)
    const text = yield* reply.text
    return {
      status: reply.status,
      contentType: reply.headers["content-type"],
      json: text === "" ? undefined : JSON.parse(text)
    }
  })

describe("names that every object inherits", () => {
  it.effect("are unknown fields, in every object of every body", () =>
    Effect.gen(function* () {
      const snapshot = yield* sendText("GET", "/worlds/default/snapshot", "")
      const all = [...routes, { method: "PUT", path: "/worlds/default/snapshot", body: snapshot.json }]
      for (const { body, method, path } of all) {
        for (const [at] of objectsIn(body)) {
          for (const key of inherited) {
            const { json, status } = yield* sendText(method, path, withKey(body, at, key))
            const named = namedByWriters.test(at) ? undefined : `${at === "" ? "" : `${at}.`}${key}`
            expect([path, status]).toEqual([path, named === undefined ? 200 : 422])
            if (named !== undefined) expect(json.errors).toEqual({ [named]: ["There is no such field."] })
          }
        }
      }
      expect((yield* sendText("GET", "/worlds/default/snapshot", "")).json.nodes.length).toBe(5)
    }).pipe(Effect.provide(TestServer.layerHttpClient({ scenario: "small" })))
  )

  it.effect("and keys that come twice are refused by path, in every object of every body", () =>
    Effect.gen(function* () {
      for (const { body, method, path } of routes) {
        for (const [at, object] of objectsIn(body)) {
          const [key] = Object.keys(object)
          const { json, status } = yield* sendText(method, path, withKey(body, at, key!))
          const named = `${at === "" ? "" : `${at}.`}${key}`
          expect([path, status, json.errors]).toEqual([path, 422, { [named]: ["The field is given twice."] }])
        }
      }
    }).pipe(Effect.provide(TestServer.layerHttpClient({ scenario: "small" })))
  )

  it.effect("are no worlds, no nodes and no parameters, however they are written", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const ask = (method: string, path: string) =>
        Effect.map(
          exchange(
            baseUrl,
            [`${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer berth-token\r\n\r\n`],
            { enough: 1 }
          ),
          ({ replies }) => replies[0]!
        )
      for (const id of [...inherited, "%", "%00", "%2e%2e", "..", "..%2fdefault", "%ff", "%5f%5fproto%5f%5f", "a b"]) {
        for (const path of [
          `/_mock/worlds/${id}`,
          `/_mock/worlds/${id}/clock`,
          `/_mock/${id}/clock`,
          `/_mock/worlds/default/nodes/${id}/x`,
          `/myaccount/api/v1/nodes/${id}/?apikey=berth-key`
        ]) {
          const { body, headers, status } = yield* ask("GET", path)
          expect([path, status]).toEqual([path, path.includes(" ") ? 400 : 404])
          expectFailure(status, headers["content-type"], JSON.parse(body))
        }
      }
      for (const name of [...inherited, "%", "%00", "a[]", ""]) {
        for (const path of ["/_mock/worlds/default/nodes", "/myaccount/api/v1/nodes/", "/myaccount/api/v1/images/"]) {
          const { status } = yield* ask("GET", `${path}?apikey=berth-key&${name}=1&${name}=%`)
          // The control plane refuses unknown parameters, but the service ignores them.
          expect([path, name, status]).toEqual([path, name, path.startsWith("/_mock/") ? 400 : 200])
        }
      }
      const { json } = yield* control("GET", "/worlds/default/requests?limit=20")
      for (const { query } of json.requests) {
        for (const value of Object.values(query)) expect(value).toBe("1,%")
      }
    }).pipe(Effect.provide(TestServer.layer({ scenario: "small" })))
  )

  it.effect("are values like any other to the service, as fields and as contents", () =>
    Effect.gen(function* () {
      for (const name of inherited) {
        for (const raw of [
          `{"${name}":1}`,
          `{"name":{"${name}":1}}`,
          JSON.stringify({ ...nodeOf("a"), plan: name, region: name }),
          JSON.stringify({ ...nodeOf("a"), image: name }),
          `{"cn_id":"${name}","cn_status":"${name}","${name}":{}}`
        ]) {
          errorsOf(yield* call("POST", "/nodes/", { raw }), 422)
          errorsOf(yield* call("POST", "/update_committed_node_status/", { raw }), 422)
        }
        const header = { [name]: "*" }
        yield* control("PUT", "/worlds/default/faults", [{ fault: "status", status: 503, scope: { header } }])
        expect((yield* call("GET", "/nodes/")).status).toBe(200)
      }
    }).pipe(Effect.provide(TestServer.layer({ scenario: "small" })))
  )
})

const oddKey = fc.constantFrom(...inherited, "", "nodes", "seed", "fault", "expected", "0", "\u0000", "detail")
const { value: oddValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(...extremes),
    fc.constantFrom(null, true, 0, -1, 1.5, 2 ** 53, "", "x1e9", "fleet:-1", "-1 seconds", "Infinity", "\ud800"),
    fc.string(),
    fc.array(tie("value")),
    fc.array(fc.tuple(oddKey, tie("value"))).map(Object.fromEntries),
    fc.integer({ min: 60, max: 5000 }).map((depth) => ({ raw: "[".repeat(depth) + "]".repeat(depth) }))
  )
}))

/** A place in a value, and a value to put there: under a new key, or instead of the present value. */
const change = fc.record({
  place: fc.array(fc.nat(), { maxLength: 6 }),
  key: fc.option(oddKey),
  value: oddValue
})

const changed = (
  value: unknown,
  { key, place, value: odd }: typeof change extends fc.Arbitrary<infer A> ? A : never
) => {
  const copy = structuredClone(value)
  let [holder, at]: [any, string] = [{ copy }, "copy"]
  for (const step of place) {
    const here = holder[at]
    if (typeof here !== "object" || here === null || Object.keys(here).length === 0) break
    const keys = Object.keys(here)
    ;[holder, at] = [here, keys[step % keys.length]!]
  }
  const target = holder[at]
  const into = key !== null && typeof target === "object" && target !== null && !Array.isArray(target)
  Object.defineProperty(into ? target : holder, into ? key : at, { value: odd, enumerable: true, configurable: true })
  return holder.copy === undefined ? copy : holder.copy
}

describe("any body", () => {
  it.effect("gets a success, or the route's own failure with the invalid fields, at every route", () =>
    Effect.gen(function* () {
      const context = yield* Effect.context<TestServer | HttpClient.HttpClient>()
      const { json: snapshot } = yield* sendText("GET", "/worlds/default/snapshot", "")
      const all = [...routes, { method: "PUT", path: "/worlds/default/snapshot", body: snapshot }]
      const seen = new Set<number>()
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(
            fc.constantFrom(...all),
            fc.array(change, { minLength: 1, maxLength: 3 }),
            async (route, changes) => {
              const body = JSON.stringify(changes.reduce<unknown>(changed, route.body)) ?? "null"
              const text = body.replaceAll(/\{"raw":"([[\]]+)"\}/g, "$1")
              const reply = await Effect.runPromiseWith(context)(sendText(route.method, route.path, text))
              seen.add(reply.status)
              if (reply.status < 300) return
              assert(reply.status < 500, `${reply.status} ${route.method} ${route.path} ${text}`)
              expectFailure(reply.status, reply.contentType, reply.json)
            }
          ),
          // Each unchanged body is accepted.
          { numRuns: isSoak ? 600 : 300, examples: all.map((route): [typeof route, []] => [route, []]) }
        )
      )
      expect([...seen].sort()).toEqual(expect.arrayContaining([200, 201, 422]))
      expect((yield* sendText("GET", "/worlds", "")).status).toBe(200)
    }).pipe(Effect.provide(TestServer.layerHttpClient({ scenario: "small" })))
  )
})
