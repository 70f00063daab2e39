import { describe, expect, it, layer } from "@effect/vitest"
import { DateTime, Effect, Exit } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { TestServer } from "../src/testing.ts"
import { call, callWithoutSocket, dataOf, nodeOf } from "./http/service.ts"

layer(TestServer.layerHttpClient())("the service without a socket", (it) => {
  it.effect("answers the client it provides, and lives by the world's clock", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const created = yield* callWithoutSocket("POST", "/nodes/", nodeOf("web"))
      expect([created.status, created.json.data.status]).toEqual([202, "Create"])
      const status = Effect.map(
        callWithoutSocket("GET", `/nodes/${created.json.data.id}/`),
        ({ json }): string => json.data.status
      )
      expect(yield* status).toBe("created")
      expect(DateTime.formatIso(yield* server.advance("2 seconds"))).toBe("2026-01-01T00:00:02.000Z")
      expect(yield* status).toBe("running")
    })
  )

  it.effect("has the headers, failures and limits of the service on a socket", () =>
    Effect.gen(function* () {
      const refused = yield* callWithoutSocket("POST", "/nodes/", {})
      expect([refused.status, refused.json.code]).toEqual([422, 422])
      expect(refused.headers.get("ratelimit-limit")).toBe("1200")
      expect(refused.headers.get("date")).toContain("Jan 2026")
      expect((yield* callWithoutSocket("POST", "/nodes/", { name: "x".repeat(1_100_000) })).status).toBe(413)
      expect((yield* callWithoutSocket("GET", `/${"x".repeat(9_000)}`)).status).toBe(414)
      expect((yield* callWithoutSocket("GET", "/nope/")).status).toBe(404)
    })
  )
})

describe("the clock of a test's service", () => {
  it.effect("follows the clock of the test where the world's is real", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const created = yield* callWithoutSocket("POST", "/nodes/", nodeOf("web"))
      yield* TestClock.adjust("2 seconds")
      expect((yield* callWithoutSocket("GET", `/nodes/${created.json.data.id}/`)).json.data.status).toBe("running")
      expect(DateTime.toEpochMillis(yield* server.now)).toBe(2_000)
    }).pipe(Effect.provide(TestServer.layerHttpClient({ clock: "real" })))
  )

  it.effect("is not moved by an invalid duration", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const before = yield* server.now
      const moves = [() => server.advance(Number.NaN), () => server.advance(-1), () => server.advance(Infinity)]
      for (const move of moves) expect(Exit.isFailure(yield* Effect.exit(move()))).toBe(true)
      expect(yield* server.now).toEqual(before)
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("stands still if frozen, while the clock of the test moves", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      yield* TestClock.adjust("1 hour")
      expect(DateTime.formatIso(yield* server.now)).toBe("2026-01-01T00:00:00.000Z")
    }).pipe(Effect.provide(TestServer.layer()))
  )
})

describe("calls without a socket", () => {
  it.effect("take place within one adjustment of the test's clock, with whatever sleeps between them", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const poll = Effect.andThen(callWithoutSocket("GET", "/nodes/"), Effect.sleep("1 minute"))
      yield* Effect.forkChild(Effect.forever(poll))
      yield* TestClock.adjust("5 minutes")
      const seconds = (yield* server.journal).map(({ at }) => Date.parse(at) / 1000)
      expect(seconds).toEqual([0, 60, 120, 180, 240, 300])
    }).pipe(Effect.provide(TestServer.layerHttpClient({ clock: "real" })))
  )

  it.effect("wait for no turn of the event loop", () =>
    Effect.gen(function* () {
      const context = yield* Effect.context<TestServer | HttpClient.HttpClient>()
      expect(Effect.runSyncWith(context)(callWithoutSocket("POST", "/nodes/", nodeOf("web"))).status).toBe(202)
    }).pipe(Effect.provide(TestServer.layerHttpClient()))
  )

  it.effect("answer HEAD with the head alone", () =>
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const { baseUrl } = yield* TestServer
      const head = yield* client.head(`${baseUrl}/openapi.json`)
      expect([yield* head.text, Number(head.headers["content-length"]) > 1000]).toEqual(["", true])
    }).pipe(Effect.provide(TestServer.layerHttpClient()))
  )
})

describe("several services in one test", () => {
  it.effect("listen on ports of their own and know nothing of each other", () =>
    Effect.gen(function* () {
      const nodesOf = (seed: number) =>
        Effect.gen(function* () {
          dataOf(yield* call("POST", "/nodes/", { body: nodeOf("web") }), 202)
          return dataOf(yield* call("GET", "/nodes/")).length
        }).pipe(Effect.provide(TestServer.layer({ seed }), { local: true }))
      const counts = yield* Effect.all([nodesOf(1), nodesOf(2), nodesOf(3)], { concurrency: "unbounded" })
      expect(counts).toEqual([1, 1, 1])
    })
  )
})
