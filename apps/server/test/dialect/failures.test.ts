import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { bodyOf, call, create, vector } from "./today.ts"

layer(TestServer.layer({ dialect: "today" }))("failures in the forms of today", (it) => {
  it.effect("a caller without access, or a request for a missing thing, gets the details", () =>
    Effect.gen(function* () {
      const stranger = yield* call("GET", "/nodes/", { token: null })
      expect([stranger.status, stranger.json]).toEqual([401, vector("list-401-detail").body])
      expect(stranger.headers.get("www-authenticate")).toBe("Bearer")
      const wrong = yield* call("GET", "/nodes/", { token: "wrong" })
      expect([wrong.status, wrong.json]).toEqual([401, { detail: "Invalid authentication credentials." }])
      for (const path of ["/nodes/1/", "/nodes/abc/", "/nope/"]) {
        const { json, status } = yield* call("GET", path)
        expect([path, status, json]).toEqual([path, 404, vector("get-404-detail").body])
      }
      const method = yield* call("PUT", "/nodes/")
      expect([method.status, method.json]).toEqual([405, { detail: "Method not allowed." }])
    })
  )

  it.effect("a SKU as plan is 412, with the reason in errors", () =>
    Effect.gen(function* () {
      const { json, status } = yield* create("by-sku", { plan: "C3.8GB" })
      expect([status, json]).toEqual([412, vector("create-412-plan-is-sku").body])
    })
  )

  it.effect("a name has 3 to 50 letters, digits and hyphens", () =>
    Effect.gen(function* () {
      for (const name of ["ab", "a".repeat(51), "web 1", "web_1", "wéb"]) {
        const { json, status } = yield* create(name)
        expect([name, status, json.message, json.errors]).toEqual([
          name,
          412,
          "Precondition Failed",
          "A name has 3 to 50 letters, digits and hyphens."
        ])
      }
      expect((yield* create("a".repeat(50))).status).toBe(200)
    })
  )

  it.effect("fields of the wrong type are all named, and those that are missing", () =>
    Effect.gen(function* () {
      const body = { image: "x", disk: "large", backups: 1, cn_status: "never", number_of_instances: 0 }
      const { json, status } = yield* call("POST", "/nodes/", { body })
      expect([status, json.code, json.message]).toEqual([400, 400, "Error"])
      expect(Object.keys(json.errors).sort()).toEqual([
        "backups",
        "cn_status",
        "disk",
        "name",
        "number_of_instances",
        "plan"
      ])
    })
  )

  it.effect("a body that is no JSON object is refused, and nothing is made", () =>
    Effect.gen(function* () {
      for (const raw of ["", "{", "[]"]) {
        const { json, status } = yield* call("POST", "/nodes/", { raw })
        expect([status, json.code, typeof json.errors]).toEqual([400, 400, "string"])
      }
      const typed = yield* call("POST", "/nodes/", {
        body: yield* bodyOf("typed"),
        headers: { "content-type": "text/plain" }
      })
      expect([typed.status, typed.json.code]).toEqual([415, 415])
    })
  )
})

layer(TestServer.layer({ dialect: "today", rateLimit: { limit: 3 } }))("a small allowance", (it) => {
  it.effect("a request beyond it is 429, with the reason in errors and retry-after", () =>
    Effect.gen(function* () {
      yield* Effect.all([1, 2, 3].map(() => call("GET", "/nodes/")))
      const { headers, json, status } = yield* call("GET", "/nodes/")
      expect([status, json.code, json.message, typeof json.errors]).toEqual([429, 429, "Too Many Requests", "string"])
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0)
    })
  )
})
