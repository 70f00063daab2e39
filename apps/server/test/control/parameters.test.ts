import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { errorsOf } from "../http/service.ts"
import { control } from "./plane.ts"

layer(TestServer.layer())("a query of the control plane", (it) => {
  for (const [path, status, errors] of [
    [
      "/default/requests?opration=nodes.list",
      400,
      {
        opration: ["Unknown parameter: the path takes after, fault, limit, method, operation, status."]
      }
    ],
    ["/default/requests?stat%75ss=1&afterr=2", 400, { statuss: [expect.any(String)], afterr: [expect.any(String)] }],
    ["/default/requests?operation=nodes.lst", 400, { operation: [expect.stringContaining('"nodes.list"')] }],
    ["/default/requests?operation=", 400, { operation: ["The value is empty."] }],
    ["/default/requests?fault=statsu", 400, { fault: [expect.stringContaining('"status"')] }],
    ["/default/requests?method=GTE", 400, { method: ["Expected an HTTP method."] }],
    ["/default/requests?status=abc", 400, { status: [expect.any(String)] }],
    ["/default/requests?status=99", 422, { status: [expect.stringContaining("100")] }],
    ["/default/requests?status=200&status=201", 400, { status: ["The parameter is given more than once."] }],
    ["/default/requests?after=-1", 422, { after: [expect.any(String)] }],
    ["/default/requests?after=1e1", 400, { after: ["Expected a whole number."] }],
    ["/default/requests?after=1.5", 400, { after: [expect.any(String)] }],
    [
      "/default/requests?after=1",
      422,
      { after: ["The journal ends with 0: the number comes from another run of the server."] }
    ],
    ["/default/requests?limit=0", 422, { limit: [expect.any(String)] }],
    ["/default/requests?limit=1001", 422, { limit: [expect.any(String)] }],
    ["/default/requests?limit=0&x=1", 400, { x: [expect.any(String)], limit: [expect.any(String)] }],
    ["/default/requests?__proto__=1", 400, { ["__proto__"]: [expect.any(String)] }],
    ["/worlds/default/nodes?skip=-1", 422, { skip: [expect.any(String)] }],
    ["/worlds/default/nodes?count=x", 400, { count: [expect.any(String)] }],
    ["/worlds/default/nodes?page=2", 400, { page: ["Unknown parameter: the path takes count, skip."] }],
    ["/events?wrld=default", 400, { wrld: ["Unknown parameter: the path takes world."] }],
    ["/worlds/default/request%73?wrong=1", 400, { wrong: [expect.any(String)] }],
    ["/%64efault/request%73?%6cimit=0&wrong=1", 400, { wrong: [expect.any(String)], limit: [expect.any(String)] }],
    ["/openapi.json?x=1", 400, { x: ["Unknown parameter: the path takes none."] }],
    ["/worlds?seed=7", 400, { seed: ["Unknown parameter: the path takes none."] }]
  ] as const) {
    it.effect(`${path}: ${status}, with what was expected`, () =>
      Effect.gen(function* () {
        const found = errorsOf(yield* control("GET", path), status)
        expect(Object.entries(found)).toEqual(Object.entries(errors))
      })
    )
  }

  it.effect("is read as it is meant where it is valid", () =>
    Effect.gen(function* () {
      for (const path of [
        "/default/requests?operation=nodes.list&method=get&status=503&fault=hang&after=0&limit=1000",
        "/worlds/default/nodes?skip=0&count=1",
        "/worlds?"
      ]) {
        expect([path, (yield* control("GET", path)).status]).toEqual([path, 200])
      }
      // Only a question mark begins a query.
      for (const path of ["/worlds;wrong=1", "/worlds%3Bwrong=1", "/worlds%2Fdefault", "/worlds%2573"]) {
        expect([path, (yield* control("GET", path)).status]).toEqual([path, 404])
      }
      // An unknown path or method is reported as such, and not as an unknown parameter.
      expect((yield* control("GET", "/nope?x=1")).status).toBe(404)
      expect((yield* control("PUT", "/worlds?x=1")).status).toBe(405)
    })
  )
})
