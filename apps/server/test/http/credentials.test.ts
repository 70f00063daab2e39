import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestServer } from "../../src/testing.ts"
import { allowanceOf, call, create, dataOf, errorsOf, prefix, send } from "./service.ts"

describe("credentials over HTTP", () => {
  const other = { apiKey: Redacted.make("other-key"), accessToken: Redacted.make("other-token") }
  const main = { apiKey: Redacted.make("main-key"), accessToken: Redacted.make("main-token") }
  const paths = ["/nodes/", "/nodes/1/", "/images/", "/images/saved-images/"]

  it.effect("key and token are both needed, and each fault is named (A5)", () =>
    Effect.gen(function* () {
      const cases = [
        [{ key: null }, ["apikey"]],
        [{ key: "wrong" }, ["apikey"]],
        [{ key: "" }, ["apikey"]],
        [{ token: null }, ["authorization"]],
        [{ token: "wrong" }, ["authorization"]],
        [{ key: null, token: null }, ["apikey", "authorization"]],
        [{ headers: { authorization: "Basic berth-token" } }, ["authorization"]],
        [{ headers: { "x-api-key": "other" } }, ["x-api-key"]],
        [{ key: null, headers: { "x-api-key": "berth-key" } }, ["apikey", "x-api-key"]]
      ] as const
      for (const path of paths) {
        for (const [options, faults] of cases) {
          const reply = yield* call("GET", path, options)
          expect(Object.keys(errorsOf(reply, 401))).toEqual(faults)
          expect(reply.headers.get("www-authenticate")).toBe("Bearer")
        }
      }
      dataOf(yield* call("GET", "/nodes/", { headers: { "x-api-key": "berth-key" } }))
      dataOf(yield* call("GET", "/nodes/", { headers: { authorization: "bearer   berth-token" } }))
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("a key that comes twice and differs is no key", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const reply = (query: string) =>
        send(`${baseUrl}${prefix}/nodes/?${query}`, { headers: { authorization: "Bearer berth-token" } })
      errorsOf(yield* reply("apikey=berth-key&apikey=other"), 401)
      dataOf(yield* reply("apikey=berth-key&apikey=berth-key"))
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("key and token of different accounts are 403, and two accounts never see each other's nodes", () =>
    Effect.gen(function* () {
      const { id } = yield* create("mine")
      errorsOf(yield* call("GET", "/nodes/", { token: "other-token" }), 403)
      errorsOf(yield* call("GET", `/nodes/${id}/`, { key: "other-key" }), 403)
      const theirs = { key: "other-key", token: "other-token" }
      expect(dataOf(yield* call("GET", "/nodes/", theirs))).toEqual([])
      errorsOf(yield* call("DELETE", `/nodes/${id}/`, theirs), 404)
      expect(allowanceOf((yield* call("GET", "/nodes/", theirs)).headers)[1]).toBe(1200 - 4)
    }).pipe(Effect.provide(TestServer.layer({ accounts: [main, other] })))
  )

  it.effect("key-only asks for the key and nothing else; off asks for nothing", () =>
    Effect.gen(function* () {
      yield* Effect.provide(
        Effect.gen(function* () {
          dataOf(yield* call("GET", "/nodes/", { token: null }))
          dataOf(yield* call("GET", "/nodes/", { token: "wrong" }))
          errorsOf(yield* call("GET", "/nodes/", { key: null }), 401)
        }),
        TestServer.layer({ auth: "key-only" })
      )
      yield* Effect.provide(
        Effect.gen(function* () {
          dataOf(yield* call("GET", "/nodes/", { key: null, token: null }))
          dataOf(yield* call("GET", "/nodes/", { key: "wrong", headers: { "x-api-key": "other" } }))
        }),
        TestServer.layer({ auth: "off" })
      )
    })
  )
})
