import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { allowanceOf, call, dataOf, errorsOf, send } from "./service.ts"

describe("the allowance over HTTP (A20 to A22)", () => {
  it.effect("is in the headers of every reply, goes down by one each, and is the account's own", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const replies = [
        yield* call("GET", "/nodes/"),
        yield* call("GET", "/nodes/1/"),
        yield* call("PUT", "/nodes/"),
        yield* call("OPTIONS", "/nodes/"),
        yield* call("POST", "/nodes/", { raw: "{" }),
        yield* call("GET", "/nope/")
      ]
      const reset = Date.UTC(2026, 0, 1, 1) / 1000
      expect(replies.map(({ headers }) => allowanceOf(headers))).toEqual(
        [1199, 1198, 1197, 1196, 1195, 1194].map((remaining) => [1200, remaining, reset])
      )
      // One valid credential is enough to name the account. Requests without a credential use another allowance, that of the server.
      expect(allowanceOf((yield* call("GET", "/nodes/", { key: null })).headers)[1]).toBe(1193)
      const strangers = [yield* call("GET", "/nodes/", { key: null, token: null }), yield* send(`${baseUrl}/nope`)]
      expect(strangers.map(({ headers }) => allowanceOf(headers)[1])).toEqual([999_999, 999_998])
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("used up it is 429 with Retry-After, which costs nothing and comes true", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      for (let i = 0; i < 3; i++) dataOf(yield* call("GET", "/nodes/"))
      yield* server.advance("1500 millis")
      for (let i = 0; i < 3; i++) {
        const refused = yield* call("GET", "/nodes/")
        errorsOf(refused, 429)
        expect(refused.headers.get("retry-after")).toBe("9")
        expect(allowanceOf(refused.headers)).toEqual([3, 0, Date.UTC(2026, 0, 1, 0, 0, 10) / 1000])
      }
      yield* server.advance("8400 millis")
      errorsOf(yield* call("GET", "/nodes/"), 429)
      yield* server.advance("600 millis")
      dataOf(yield* call("GET", "/nodes/"))
    }).pipe(Effect.provide(TestServer.layer({ rateLimit: { limit: 3, window: 10_000, algorithm: "fixed-window" } })))
  )

  it.effect("of a stranger does not touch the account's", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 4; i++) errorsOf(yield* call("GET", "/nodes/", { key: "x", token: "y" }), 401)
      dataOf(yield* call("GET", "/nodes/"))
    }).pipe(Effect.provide(TestServer.layer({ rateLimit: { limit: 2, window: 10_000, algorithm: "sliding-window" } })))
  )
})
