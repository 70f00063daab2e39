import { assert, describe, expect, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { TestServer } from "../../src/testing.ts"
import { call, dataOf, errorsOf, nodeOf, prefix, send } from "./service.ts"

const create = (name: string, over: object = {}) =>
  Effect.map(call("POST", "/nodes/", { body: { ...nodeOf(name), ...over } }), (reply) => dataOf(reply, 202))

const allowanceOf = (headers: Headers) =>
  ["limit", "remaining", "reset"].map((name) => {
    const value = headers.get(`ratelimit-${name}`)
    assert(/^\d+$/.test(value ?? ""), `ratelimit-${name}: ${value}`)
    return Number(value)
  })

layer(TestServer.layer({ scenario: "small" }))("nodes over HTTP", (it) => {
  it.effect("create answers 202 with the record of interface.md §2.3 and where the node is", () =>
    Effect.gen(function* () {
      const reply = yield* call("POST", "/nodes/", { body: { ...nodeOf("web"), backups: true } })
      const { id, ...rest } = dataOf(reply, 202)
      expect(rest).toEqual({
        name: "web",
        created_at: expect.stringMatching(/^2026-01-01T00:00:00\.000\d{3}Z$/),
        public_ip_address: expect.stringMatching(/^100\.\d+\.\d+\.\d+$/),
        private_ip_address: expect.stringMatching(/^10\.\d+\.\d+\.\d+$/),
        backup: true,
        disk: "100 GB",
        status: "Create",
        vcpus: "4",
        memory: "16.00 GB",
        plan: "C-4VCPU-16RAM-100DISK",
        region: "ncr",
        is_locked: false
      })
      expect(reply.headers.get("location")).toBe(`${prefix}/nodes/${id}/`)
    })
  )

  it.effect("get answers the attributes of §2.4, list the shape of the example in §2.5", () =>
    Effect.gen(function* () {
      const made = yield* create("shapes")
      const got = dataOf(yield* call("GET", `/nodes/${made.id}/`))
      expect(got).toEqual({
        id: made.id,
        name: "shapes",
        vcpus: 4,
        disk: 100,
        locked: false,
        created_at: made.created_at,
        status: "created",
        backups: false,
        public_ip_address: {
          ip_address: made.public_ip_address,
          netmask: "255.255.255.0",
          gateway: made.public_ip_address.replace(/\d+$/, "1"),
          type: "public"
        },
        private_ip_address: expect.objectContaining({ ip_address: made.private_ip_address, type: "private" }),
        tags: []
      })
      const listed = dataOf(yield* call("GET", "/nodes/", { query: { per_page: 100 } }))
      const { is_locked: _, status: __, ...shared } = made
      expect(listed.at(-1)).toEqual({ ...shared, status: "created" })
    })
  )

  it.effect("a node runs when provisioning ends, is terminate after a delete, and is then gone", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const { id } = yield* create("short-lived")
      const status = Effect.map(call("GET", `/nodes/${id}/`), (reply) => reply.json.data.status ?? reply.status)
      expect(yield* status).toBe("created")
      yield* server.advance("2 seconds")
      expect(yield* status).toBe("running")
      const deleted = yield* call("DELETE", `/nodes/${id}/`)
      expect([deleted.status, deleted.text, deleted.headers.get("content-type")]).toEqual([
        204,
        "",
        "application/octet-stream"
      ])
      expect(yield* status).toBe("terminate")
      expect((yield* call("DELETE", `/nodes/${id}/`)).status).toBe(204)
      yield* server.advance("2 seconds")
      errorsOf(yield* call("GET", `/nodes/${id}/`), 404)
      errorsOf(yield* call("DELETE", `/nodes/${id}/`), 404)
      const rest = dataOf(yield* call("GET", "/nodes/", { query: { per_page: 100 } }))
      expect(rest.map((node: { id: number }) => node.id)).not.toContain(id)
    })
  )

  it.effect("pages are asked for by page_no, which wins over its alias page; past the end is empty", () =>
    Effect.gen(function* () {
      const ids = (query: Record<string, number>) =>
        Effect.map(call("GET", "/nodes/", { query }), (reply) => dataOf(reply).map(({ id }: { id: number }) => id))
      const all = yield* ids({ per_page: 100 })
      expect(all).toEqual([...all].sort((a: number, b: number) => a - b))
      expect(yield* ids({ page_no: 2, per_page: 2 })).toEqual(all.slice(2, 4))
      expect(yield* ids({ page: 2, per_page: 2 })).toEqual(all.slice(2, 4))
      expect(yield* ids({ page: 1, page_no: 2, per_page: 2 })).toEqual(all.slice(2, 4))
      expect(yield* ids({})).toEqual(all.slice(0, 20))
      expect(yield* ids({ page_no: 9_007_199_254_740_991, per_page: 100 })).toEqual([])
    })
  )

  it.effect("a page out of bounds is 422 and names every parameter at fault, one of the wrong type is 400", () =>
    Effect.gen(function* () {
      const errors = (query: Record<string, string | number>, status: number) =>
        Effect.map(call("GET", "/nodes/", { query }), (reply) => Object.keys(errorsOf(reply, status)).sort())
      expect(yield* errors({ page_no: 0, per_page: 101 }, 422)).toEqual(["page_no", "per_page"])
      expect(yield* errors({ page: -1 }, 422)).toEqual(["page"])
      expect(yield* errors({ page_no: "abc", per_page: "1.5" }, 400)).toEqual(["page_no", "per_page"])
      expect(yield* errors({ page_no: "abc", per_page: 0 }, 400)).toEqual(["page_no"])
      const server = yield* TestServer
      const twice = `${server.baseUrl}${prefix}/nodes/?apikey=berth-key&page_no=1&page_no=2`
      const reply = yield* send(twice, { headers: { authorization: "Bearer berth-token" } })
      expect(errorsOf(reply, 400)).toEqual({ page_no: ["The parameter is given more than once."] })
      dataOf(yield* call("GET", "/nodes/", { query: { page_no: "", per_page: "" } }))
    })
  )

  it.effect("an id that is no whole number from 1 names no node", () =>
    Effect.gen(function* () {
      for (const id of ["abc", "0", "-1", "1.5", "999999999", "1e400", "%20", "%2F", "%zz", "9".repeat(200)]) {
        for (const method of ["GET", "DELETE"]) errorsOf(yield* call(method, `/nodes/${id}/`), 404)
      }
    })
  )

  it.effect("a create names every field at fault", () =>
    Effect.gen(function* () {
      const reply = yield* call("POST", "/nodes/", { body: { name: " ", region: "mars", plan: "x", image: [], tags: 1 } })
      expect(Object.keys(errorsOf(reply, 422)).sort()).toEqual(["image", "name", "plan", "region", "tags"])
    })
  )

  it.effect("a body must be JSON, plain, complete, valid UTF-8 and at most 1 MiB", () =>
    Effect.gen(function* () {
      const post = (options: Parameters<typeof call>[2]) => call("POST", "/nodes/", options)
      for (const raw of ["", "{", "{\"name\":", "nonsense", "[1,]"]) errorsOf(yield* post({ raw }), 400)
      errorsOf(yield* post({ raw: new Uint8Array([0x22, 0xff, 0xfe, 0x22]) }), 400)
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "nonsense"]) {
        errorsOf(yield* post({ body: nodeOf("x"), headers: { "content-type": type } }), 415)
      }
      errorsOf(yield* post({ body: nodeOf("x"), headers: { "content-encoding": "gzip" } }), 415)
      for (const type of ["application/json; charset=utf-8", "Application/JSON", "application/vnd.api+json"]) {
        errorsOf(yield* post({ body: {}, headers: { "content-type": type } }), 422)
      }
      errorsOf(yield* post({ raw: " ".repeat(1024 * 1024 + 1) }), 413)
      errorsOf(yield* post({ raw: `${" ".repeat(1024 * 1024 - 2)}{}` }), 422)
    })
  )

  it.effect("HEAD answers like GET without the body", () =>
    Effect.gen(function* () {
      for (const path of ["/nodes/", "/images/", "/images/saved-images/"]) {
        const get = yield* call("GET", path)
        const head = yield* call("HEAD", path)
        expect([head.status, head.text]).toEqual([200, ""])
        expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(get.text)))
      }
      expect((yield* call("HEAD", "/nodes/1/")).status).toBe(404)
    })
  )

  it.effect("a wrong method is 405 with Allow, OPTIONS is 204 with Allow, and both need no credentials", () =>
    Effect.gen(function* () {
      const allowed = {
        "/nodes/": "GET, HEAD, POST, OPTIONS",
        "/nodes/5/": "GET, HEAD, DELETE, OPTIONS",
        "/images/": "GET, HEAD, OPTIONS",
        "/images/saved-images/": "GET, HEAD, OPTIONS",
        "/update_committed_node_status/": "POST, OPTIONS"
      }
      for (const [path, allow] of Object.entries(allowed)) {
        const options = yield* call("OPTIONS", path, { key: null, token: null })
        expect([options.status, options.text, options.headers.get("allow")]).toEqual([204, "", allow])
        for (const method of ["PUT", "PATCH", "PROPFIND", "PURGE"]) {
          const reply = yield* call(method, path, { key: null, token: null })
          errorsOf(reply, 405)
          expect(reply.headers.get("allow")).toBe(allow)
        }
      }
    })
  )

  it.effect("paths are what they say, except that the last slash may be left out", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      dataOf(yield* call("GET", "/nodes"))
      dataOf(yield* call("GET", "/images/saved-images"))
      const elsewhere = ["/", "/nope/", "/myaccount/api/v2/nodes/", `${prefix}/Nodes/`, `${prefix}//nodes/`, "/nodes/"]
      for (const path of elsewhere) {
        const reply = yield* send(`${server.baseUrl}${path}?apikey=berth-key`, {
          headers: { authorization: "Bearer berth-token" }
        })
        errorsOf(reply, 404)
      }
    })
  )
})

layer(TestServer.layer())("commitments and images over HTTP", (it) => {
  it.effect("a commitment is set with the bearer token, or with the three cookies and their header (decision 6)", () =>
    Effect.gen(function* () {
      const { id } = yield* create("web")
      const images = dataOf(yield* call("GET", "/images/"))
      const plan = "C-4VCPU-16RAM-100DISK"
      const committed = images.find((image: any) => image.plan === plan).specs.committed_sku
      const skuId = committed[0].committed_sku_id
      const set = (body: object, options: object = {}) =>
        call("POST", "/update_committed_node_status/", { body: { vcn_id: id, ...body }, ...options })
      expect(dataOf(yield* set({ node_status: "auto_renew", committed_plan: skuId }))).toEqual({
        vcn_id: id,
        node_status: "auto_renew",
        committed_plan: skuId
      })
      const cookie = "csrftoken=abc; sessionid=def; role=admin"
      const session = { token: null, headers: { cookie, "x-csrftoken": "abc" } }
      expect(dataOf(yield* set({ node_status: "auto_terminate", committed_plan: 0 }, session))).toEqual({
        vcn_id: id,
        node_status: "auto_terminate",
        committed_plan: skuId
      })
      const refused = [
        { token: null, headers: { cookie } },
        { token: null, headers: { cookie, "x-csrftoken": "other" } },
        { token: null, headers: { cookie: "csrftoken=abc; sessionid=def", "x-csrftoken": "abc" } },
        { ...session, key: null },
        { ...session, key: "other" }
      ]
      for (const options of refused) errorsOf(yield* set({ node_status: "hourly_billing" }, options), 401)
      errorsOf(yield* call("GET", "/nodes/", session), 401)
    })
  )

  it.effect("a commitment with faults names them: 422 for fields, 404 for the node", () =>
    Effect.gen(function* () {
      const { id } = yield* create("web")
      const errors = (body: object, status: number) =>
        Effect.map(call("POST", "/update_committed_node_status/", { body }), (reply) =>
          Object.keys(errorsOf(reply, status)).sort()
        )
      expect(yield* errors({}, 422)).toEqual(["node_status", "vcn_id"])
      expect(yield* errors({ vcn_id: "x", node_status: "forever", committed_plan: 1.5 }, 422)).toEqual([
        "committed_plan",
        "node_status",
        "vcn_id"
      ])
      expect(yield* errors({ vcn_id: id, node_status: "auto_renew" }, 422)).toEqual(["committed_plan"])
      expect(yield* errors({ vcn_id: 999_999_999, node_status: "auto_renew" }, 404)).toEqual(["detail"])
    })
  )

  it.effect("an image shows what interface.md §2.6 says, with a commitment's end as a date of the world", () =>
    Effect.gen(function* () {
      const images = dataOf(yield* call("GET", "/images/", { query: { os: "ubuntu", version: "24.04", cpu: 4, ram: 16 } }))
      expect(images.length).toBe(1)
      expect(images[0]).toEqual({
        name: "Ubuntu 24.04",
        plan: "C-4VCPU-16RAM-100DISK",
        image: "Ubuntu-24.04",
        os: { name: "Ubuntu", version: "24.04", image: expect.stringMatching(/^\d+$/) },
        zone: { slug_name: "ncr" },
        specs: {
          ram: "16.00",
          cpu: 4,
          disk_space: 100,
          price_per_month: expect.stringMatching(/^\d+\.\d\d$/),
          price_per_hour: expect.stringMatching(/^\d+\.\d\d$/),
          series: "C",
          minimum_billing_amount: expect.stringMatching(/^\d+\.\d\d$/),
          committed_sku: expect.any(Array)
        }
      })
      expect(images[0].specs.committed_sku.map((sku: any) => [sku.committed_days, sku.committed_upto_date])).toEqual([
        [30, "31-January-2026 00:00"],
        [90, "01-April-2026 00:00"],
        [365, "01-January-2027 00:00"]
      ])
      const byId = yield* call("POST", "/nodes/", { body: { ...nodeOf("x"), image: Number(images[0].os.image) } })
      dataOf(byId, 202)
    })
  )

  it.effect("image filters of the wrong type are 400, an unknown type of image is 422, empty ones are none", () =>
    Effect.gen(function* () {
      expect(Object.keys(errorsOf(yield* call("GET", "/images/", { query: { cpu: "x", ram: "y" } }), 400)).sort()).toEqual(
        ["cpu", "ram"]
      )
      expect(Object.keys(errorsOf(yield* call("GET", "/images/", { query: { image_type: "secret" } }), 422))).toEqual([
        "image_type"
      ])
      const all = dataOf(yield* call("GET", "/images/"))
      const query = { cpu: "", ram: "", series: "", os: "", version: "", image_type: "", project_id: 1, location: "x" }
      expect(dataOf(yield* call("GET", "/images/", { query }))).toEqual(all)
    })
  )

  it.effect("the description and the page about the service need no credentials and cost nothing", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const before = allowanceOf((yield* send(`${server.baseUrl}/nope`)).headers)
      const description = yield* send(`${server.baseUrl}/openapi.json`)
      expect(description.json).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) })
      expect(Object.keys(description.json.paths)).toContain(`${prefix}/nodes/{node_id}/`)
      const page = yield* send(`${server.baseUrl}/docs`)
      expect([page.status, page.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")])
      expect(page.text).not.toMatch(/<(script|link)[^>]+(src|href)="https?:/)
      expect(allowanceOf((yield* send(`${server.baseUrl}/nope`)).headers)[1]).toBe(before[1]! - 1)
    })
  )
})

describe("credentials over HTTP", () => {
  const other = { apiKey: Redacted.make("other-key"), accessToken: Redacted.make("other-token") }
  const main = { apiKey: Redacted.make("main-key"), accessToken: Redacted.make("main-token") }
  const paths = ["/nodes/", "/nodes/1/", "/images/", "/images/saved-images/"]

  it.effect("key and token are both needed, and each fault is named (decision 5)", () =>
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
      expect(allowanceOf((yield* call("GET", "/nodes/", theirs)).headers)[1]).toBe(1200 - 3)
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

describe("the allowance over HTTP (decisions 20 to 22)", () => {
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
      // Without a valid account it is the address's, which is another one.
      const strangers = [yield* call("GET", "/nodes/", { key: null }), yield* send(`${baseUrl}/nope`)]
      expect(strangers.map(({ headers }) => allowanceOf(headers)[1])).toEqual([1199, 1198])
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
    }).pipe(
      Effect.provide(TestServer.layer({ allowance: { limit: 3, windowMs: 10_000, algorithm: "fixed-window" } }))
    )
  )

  it.effect("of a stranger does not touch the account's", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 2; i++) errorsOf(yield* call("GET", "/nodes/", { key: "x" }), 401)
      errorsOf(yield* call("GET", "/nodes/", { key: "x" }), 429)
      dataOf(yield* call("GET", "/nodes/"))
    }).pipe(
      Effect.provide(TestServer.layer({ allowance: { limit: 2, windowMs: 10_000, algorithm: "sliding-window" } }))
    )
  )
})

describe("a world over HTTP", () => {
  it.effect("tells its own date", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      yield* server.advance("36 hours")
      expect((yield* call("GET", "/nodes/")).headers.get("date")).toBe("Fri, 02 Jan 2026 12:00:00 GMT")
      expect((yield* call("GET", "/nope/")).headers.get("date")).toBe("Fri, 02 Jan 2026 12:00:00 GMT")
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("asked for enveloped deletes, answers them with 200 and empty data (decision 12)", () =>
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
