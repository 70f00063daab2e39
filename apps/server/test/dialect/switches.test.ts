import { expect, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { TestServer, type TestServerOptions } from "../../src/testing.ts"
import { send, withJson } from "../http/service.ts"
import { bodyOf, call, create, shapeOf, vector } from "./today.ts"

const under = (options: Partial<TestServerOptions>) =>
  TestServer.layer({ dialect: "today", scenario: { fleet: 25 }, ...options })

const ids = Effect.map(call("GET", "/nodes/", { query: { per_page: 10, page_no: 2 } }), ({ json }) =>
  json.data.map(({ id }: { id: number }) => id)
)

layer(under({}))("without switches", (it) => {
  it.effect("the list has no dates, and pages of 20 by ascending id", () =>
    Effect.gen(function* () {
      const { json } = yield* call("GET", "/nodes/")
      expect([json.data.length, json.total_count, json.total_page_number]).toEqual([20, 25, 2])
      expect(json.data[0]).not.toHaveProperty("created_at")
      const second = yield* ids
      expect(second).toEqual([...second].sort((a, b) => a - b))
      expect(second.length).toBe(10)
    })
  )

  it.effect("a switch of the control plane needs the dialect", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const make = (body: object) => send(`${baseUrl}/_mock/worlds`, withJson("POST", body))
      expect((yield* make({ dialect: "today", listDates: true })).status).toBe(201)
      const refused = yield* make({ listDates: true, paging: "ignored" })
      expect([refused.status, refused.json.errors]).toEqual([
        422,
        { listDates: ["This needs the dialect today."], paging: ["This needs the dialect today."] }
      ])
      const nodes = yield* make({ nodes: [{ name: "web-1", project: 7 }] })
      expect([nodes.status, Object.keys(nodes.json.errors)]).toEqual([422, ["nodes.0.project"]])
    })
  )

  it.effect("another world on the same server may follow the documented interface", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const { apiKey, accessToken } = (yield* send(`${baseUrl}/_mock/worlds`, withJson("POST", {}))).json
      const { json, status } = yield* send(`${baseUrl}/myaccount/api/v1/nodes/?apikey=${apiKey}`, {
        headers: { authorization: `Bearer ${accessToken}` }
      })
      expect([status, json]).toEqual([200, { message: "Success", code: 200, data: [], errors: {} }])
    })
  )

  it.effect("a switch in a test needs the dialect", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(TestServer.layer({ listDates: true }))))
      expect(Exit.isFailure(exit) && String(exit.cause)).toContain("listDates: This needs the dialect today.")
    })
  )
})

layer(under({ listDates: true, order: "descending" }))("listDates and order descending", (it) => {
  it.effect("the list has dates, and the newest node first", () =>
    Effect.gen(function* () {
      const { json } = yield* call("GET", "/nodes/")
      expect(json.data[0].created_at).toMatch(/^20\d\d-\d\d-\d\dT[\d:]+\.\d{6}Z$/)
      const second = yield* ids
      expect(second).toEqual([...second].sort((a, b) => b - a))
    })
  )
})

layer(under({ paging: "ignored" }))("paging ignored", (it) => {
  it.effect("every page has all nodes", () =>
    Effect.gen(function* () {
      const { json } = yield* call("GET", "/nodes/", { query: { page_no: 3, per_page: 2 } })
      expect([json.data.length, json.total_count, json.total_page_number]).toEqual([25, 25, 1])
    })
  )
})

layer(under({ paging: "cut" }))("paging cut", (it) => {
  it.effect("every page has the first nodes, and states no totals", () =>
    Effect.gen(function* () {
      for (const page_no of [1, 3]) {
        const { json } = yield* call("GET", "/nodes/", { query: { page_no, per_page: 2 } })
        expect([json.data.length, "total_count" in json, "total_page_number" in json]).toEqual([20, false, false])
      }
    })
  )
})

layer(under({ paging: "not-found-after-the-end" }))("paging not-found-after-the-end", (it) => {
  it.effect("a page after the end is not found, and the last page has its totals", () =>
    Effect.gen(function* () {
      const { json: last } = yield* call("GET", "/nodes/", { query: { page_no: 3, per_page: 10 } })
      expect([last.data.length, last.total_count, last.total_page_number]).toEqual([5, 25, 3])
      const { json, status } = yield* call("GET", "/nodes/", { query: { page_no: 4, per_page: 10 } })
      expect([status, json]).toEqual([404, { detail: "Invalid page." }])
    })
  )
})

layer(under({ paging: "ignored", order: "descending" }))("paging ignored and order descending", (it) => {
  it.effect("the one page begins with the newest node", () =>
    Effect.gen(function* () {
      const all = yield* ids
      expect([all.length, all]).toEqual([25, [...all].sort((a, b) => b - a)])
    })
  )
})

layer(under({ failuresWith200: true }))("failuresWith200", (it) => {
  it.effect("a refused call has the HTTP status 200 and a code in its body", () =>
    Effect.gen(function* () {
      const missing = yield* call("GET", "/nodes/1/")
      expect([missing.status, missing.json]).toEqual([200, vector("get-200-code-404").body])
      const sku = yield* create("as-sku", { plan: "C3.8GB" })
      expect([sku.status, sku.json]).toEqual([200, vector("create-412-plan-is-sku").body])
      const body = { vcn_id: 1, node_status: "hourly_billing" }
      const commitment = yield* call("POST", "/update_committed_node_status/", { body })
      expect([commitment.status, commitment.json]).toEqual([200, vector("commitment-404").body])
    })
  )
})

layer(under({ credit: "too-little" }))("too little credit", (it) => {
  it.effect("a create answers 200 without a node", () =>
    Effect.gen(function* () {
      const { json, status } = yield* create("too-dear")
      expect([status, json]).toEqual([200, vector("create-credit-insufficient").body])
      expect((yield* call("GET", "/nodes/")).json.total_count).toBe(25)
    })
  )
})

layer(under({ currency: "USD" }))("another currency", (it) => {
  it.effect("prices are in dollars", () =>
    Effect.gen(function* () {
      const { json } = yield* call("GET", "/images/")
      expect(shapeOf(json)).toEqual(shapeOf(vector("images-dollars").body))
      expect(json.data[0].currency).toBe("USD")
      // In rupees, every plan costs at least 0.1 an hour.
      expect(json.data[0].specs.price_per_hour).toBeGreaterThan(0)
      expect(json.data[0].specs.price_per_hour).toBeLessThan(0.1)
      const { json: made } = yield* call("POST", "/nodes/", { body: yield* bodyOf("in-dollars") })
      expect([made.data.currency, made.data.price.slice(0, 1)]).toEqual(["USD", "$"])
    })
  )
})
