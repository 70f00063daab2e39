import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestServer } from "../../src/testing.ts"
import { call, create, dataOf, errorsOf, nodeOf } from "./service.ts"

describe("a world over HTTP", () => {
  it.effect("shows its own date", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      yield* server.advance("36 hours")
      expect((yield* call("GET", "/nodes/")).headers.get("date")).toBe("Fri, 02 Jan 2026 12:00:00 GMT")
      expect((yield* call("GET", "/nope/")).headers.get("date")).toBe("Fri, 02 Jan 2026 12:00:00 GMT")
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("asked for enveloped deletes, answers them with 200 and empty data (A12)", () =>
    Effect.gen(function* () {
      const { id } = yield* create("web")
      expect(dataOf(yield* call("DELETE", `/nodes/${id}/`))).toEqual({})
    }).pipe(Effect.provide(TestServer.layer({ deleteStyle: "enveloped" })))
  )

  it.effect("asked for unique names, refuses a taken one with 409", () =>
    Effect.gen(function* () {
      yield* create("web")
      const reply = yield* call("POST", "/nodes/", { body: nodeOf("web") })
      expect(Object.keys(errorsOf(reply, 409))).toEqual(["name"])
    }).pipe(Effect.provide(TestServer.layer({ uniqueNames: true })))
  )

  it.effect("with the same seed gives the same bytes to the same calls, and other bytes with another", () => {
    const calls = (seed: number) =>
      Effect.gen(function* () {
        const server = yield* TestServer
        const replies = []
        replies.push(yield* call("POST", "/nodes/", { body: nodeOf("a") }))
        yield* server.advance("1 seconds")
        replies.push(yield* call("POST", "/nodes/", { body: nodeOf("b") }))
        replies.push(yield* call("GET", "/nodes/", { query: { per_page: 100 } }))
        replies.push(yield* call("GET", "/images/"), yield* call("GET", "/nodes/1/"))
        return replies.map(({ headers, status, text }) => [status, text, [...headers]])
      }).pipe(Effect.provide(Layer.fresh(TestServer.layer({ seed, scenario: "small" }))))
    return Effect.gen(function* () {
      const [first, second, other] = [yield* calls(7), yield* calls(7), yield* calls(8)]
      expect(second).toEqual(first)
      expect(other.map(([, text]) => text)).not.toEqual(first.map(([, text]) => text))
    })
  })
})
