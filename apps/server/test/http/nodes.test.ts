import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { call, create, dataOf, errorsOf, nodeOf, prefix, send } from "./service.ts"

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

  it.effect("an id is written in digits alone: whatever else comes to the same number names no node", () =>
    Effect.gen(function* () {
      const { id } = yield* create("digits")
      dataOf(yield* call("GET", `/nodes/${id}/`))
      for (const spelling of [`${id}.0`, `+${id}`, `${id / 10}e1`, `%20${id}`, `0x${id.toString(16)}`]) {
        for (const method of ["GET", "DELETE"]) errorsOf(yield* call(method, `/nodes/${spelling}/`), 404)
      }
      dataOf(yield* call("GET", `/nodes/${id}/`))
      expect((yield* call("GET", `/nodes/${id}.0/`, { token: null })).status).toBe(401)
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
      expect(yield* errors({ page_no: "1e0", per_page: "10.0" }, 400)).toEqual(["page_no", "per_page"])
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

  it.effect("a field of the wrong type is named in plain words", () =>
    Effect.gen(function* () {
      const body = { ...nodeOf("n"), image: [], name: 1, ssh_keys: 3, backups: "x", cn_id: "a", start_scripts: {} }
      expect(errorsOf(yield* call("POST", "/nodes/", { body }), 422)).toEqual({
        image: ["Expected a number or a string."],
        name: ["Expected a string."],
        ssh_keys: ["Expected a list or a string."],
        backups: ["Expected true or false."],
        cn_id: ["Expected a number."],
        start_scripts: ["Expected a list."]
      })
    })
  )

  it.effect("a create names every field at fault", () =>
    Effect.gen(function* () {
      const reply = yield* call("POST", "/nodes/", {
        body: { name: " ", region: "mars", plan: "x", image: [], tags: 1 }
      })
      expect(Object.keys(errorsOf(reply, 422)).sort()).toEqual(["image", "name", "plan", "region", "tags"])
    })
  )

  it.effect("a body must be JSON, plain, complete, valid UTF-8 and at most 1 MiB", () =>
    Effect.gen(function* () {
      const post = (options: Parameters<typeof call>[2]) => call("POST", "/nodes/", options)
      for (const raw of ["", "{", '{"name":', "nonsense", "[1,]"]) errorsOf(yield* post({ raw }), 400)
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
      const path = "/update_committed_node_status/"
      const [head, get] = [yield* call("HEAD", path), yield* call("GET", path)]
      expect([head.status, head.headers.get("content-length")]).toEqual([405, get.headers.get("content-length")])
    })
  )

  it.effect("paths are matched exactly, except that the last slash may be left out", () =>
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
