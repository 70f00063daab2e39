import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { attempt, requestAs } from "../http/service.ts"
import { bodyOf, call, create, delhi, shapeOf, vector } from "./today.ts"

const listed = Effect.map(call("GET", "/nodes/"), ({ json }) => json.data.map(({ name }: { name: string }) => name))

layer(TestServer.layer({ dialect: "today" }))("faults in a world of today", (it) => {
  it.effect("a lost reply leaves its node", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const body = yield* bodyOf("lost-1")
      yield* server.arm([{ fault: "create-lost-reply", times: 1 }])
      const { failure } = yield* attempt(...requestAs(server, "POST", "/nodes/", { body, query: delhi }))
      expect(failure).toBeDefined()
      yield* server.arm([])
      expect(yield* listed).toContain("lost-1")
    })
  )

  it.effect("a refused create is not lost: it made nothing", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      yield* server.arm([{ fault: "create-lost-reply" }])
      const { status } = yield* create("no", {})
      expect(status).toBe(412)
      yield* server.arm([])
    })
  )

  it.effect("a false failure is in today's form, and its node is there", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const body = yield* bodyOf("false-1")
      yield* server.arm([{ fault: "create-false-negative", times: 1 }])
      const { json, status } = yield* call("POST", "/nodes/", { body })
      expect([status, json]).toEqual([
        500,
        { code: 500, data: {}, errors: "The node could not be created.", message: "Internal Server Error" }
      ])
      yield* server.arm([])
      expect(yield* listed).toContain("false-1")
    })
  )

  it.effect("a stale list is one of the place, in today's form", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      yield* create("elsewhere-1", {}, { ...delhi, location: "Chennai" })
      yield* server.advance("1 minute")
      yield* create("fresh-1")
      yield* server.arm([{ fault: "list-stale" }])
      const { json } = yield* call("GET", "/nodes/")
      yield* server.arm([])
      const names = json.data.map(({ name }: { name: string }) => name)
      expect(shapeOf(json)).toEqual(shapeOf(vector("list-2026").body))
      expect([names.includes("false-1"), names.includes("fresh-1"), names.includes("elsewhere-1")]).toEqual([
        true,
        false,
        false
      ])
      expect(json.total_count).toBe(names.length)
    })
  )

  it.effect("listed-but-404 and get-lags answer in today's forms", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      yield* server.advance("1 minute")
      const { id } = (yield* create("lags-1")).json.data
      yield* server.advance("5 seconds")
      yield* server.arm([{ fault: "listed-but-404", times: 1 }])
      expect((yield* call("GET", `/nodes/${id}/`)).json).toEqual({ detail: "Not found." })
      yield* server.arm([{ fault: "get-lags", age: "4 seconds" }])
      expect((yield* call("GET", `/nodes/${id}/`)).json.data).toMatchObject({ status: "Creating", disk: "100 GB" })
      yield* server.arm([])
      expect((yield* call("GET", `/nodes/${id}/`)).json.data.status).toBe("Running")
    })
  )

  it.effect("a fault's own status is said in today's form, and its own body as it is", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const body = { is_credit_sufficient: false }
      yield* server.arm([{ fault: "status", status: 503, times: 1 }])
      const plain = yield* call("GET", "/nodes/")
      expect([plain.status, plain.json.message, typeof plain.json.errors]).toEqual([
        503,
        "Service Unavailable",
        "string"
      ])
      yield* server.arm([{ fault: "rate-limited", times: 1 }])
      const limited = yield* call("GET", "/nodes/")
      expect([limited.status, limited.json.code, typeof limited.json.errors]).toEqual([429, 429, "string"])
      yield* server.arm([{ fault: "status", status: 400, body, times: 1 }])
      expect((yield* call("GET", "/nodes/")).json).toEqual(body)
    })
  )

  it.effect("a nested create can be duplicated, and its id reused", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const body = yield* bodyOf("twice-1")
      yield* server.arm([{ fault: "duplicate-create", times: 1 }])
      yield* call("POST", "/nodes/", { body: { ...body, number_of_instances: 1 } })
      yield* server.arm([])
      expect((yield* listed).filter((name: string) => name === "twice-1").length).toBe(2)
      const { id } = (yield* create("gone-1")).json.data
      yield* call("DELETE", `/nodes/${id}/`)
      yield* server.advance("2 seconds")
      const next = yield* bodyOf("reuse-1")
      yield* server.arm([{ fault: "id-reuse", times: 1 }])
      const { json } = yield* call("POST", "/nodes/", { body: { ...next, number_of_instances: 1 } })
      yield* server.arm([])
      expect(json.data).toMatchObject({
        total_number_of_node_created: 1,
        node_create_response: [{ id, name: "reuse-1" }]
      })
    })
  )
})
