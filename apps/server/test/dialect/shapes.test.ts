import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { bodyOf, call, create, delhi, offer, shapeOf, vector } from "./today.ts"

layer(TestServer.layer({ dialect: "today" }))("replies in the shapes of today", (it) => {
  it.effect("a list shows nodes without dates and sizes, and totals next to them", () =>
    Effect.gen(function* () {
      yield* create("web-1")
      yield* create("web-2")
      const { headers, json, status } = yield* call("GET", "/nodes/")
      const expected = vector("list-2026").body
      expect([status, headers.get("content-type")]).toEqual([200, "application/json"])
      expect(shapeOf(json)).toEqual(shapeOf(expected))
      expect(json.data[0]).toMatchObject({ name: "web-1", status: "Creating", plan: "C3.8GB" })
      expect([json.total_count, json.total_page_number]).toEqual([2, 1])
    })
  )

  it.effect("a create answers 200 and one record; its plan is the SKU", () =>
    Effect.gen(function* () {
      const { json, status } = yield* create("flat-1")
      expect(status).toBe(200)
      const { data, ...envelope } = vector("create-flat-sku-shown").body
      expect(shapeOf(json)).toEqual({
        ...(shapeOf(envelope) as object),
        data: { ...(shapeOf(data) as object), region: "null" }
      })
      expect(json.data).toMatchObject({
        name: "flat-1",
        status: "Creating",
        plan: "C3.8GB",
        location: "Delhi",
        disk: "100 GB",
        vcpus: "4",
        memory: "8 GB",
        project_name: "default-project-1"
      })
      expect(json.data.vm_id).not.toBe(json.data.id)
    })
  )

  it.effect("a create that says how many answers nested, with how many were made", () =>
    Effect.gen(function* () {
      const one = yield* create("nested-1", { number_of_instances: 1 })
      expect(shapeOf(one.json)).toEqual(shapeOf(vector("create-nested-2026").body))
      const two = yield* create("nested-2", { number_of_instances: 2 })
      expect(two.json.data).toMatchObject({
        total_number_of_node_requested: 2,
        total_number_of_node_created: 2,
        node_create_response: [{ name: "nested-2-1" }, { name: "nested-2-2" }]
      })
    })
  )

  it.effect("a get shows the fields of today: sizes as texts, os_info, a price in words", () =>
    Effect.gen(function* () {
      const key = "ssh-ed25519 AAAAfixture alex@host"
      const { json: made } = yield* create("full-1", { ssh_keys: [key] })
      const { json, status } = yield* call("GET", `/nodes/${made.data.id}/`)
      expect(status).toBe(200)
      const expected = vector("get-2026-full").body
      expect(shapeOf(json)).toEqual(shapeOf(expected))
      expect(json.data.ssh_keys).toEqual([{ label: "alex", ssh_key: key }])
      expect(json.data.os_info).toEqual(expected.data.os_info)
      expect(json.data.price).toMatch(/^Rs\. \d+\.\d+\/Hour or Rs\. \d+\.\d+ Monthly$/)
      expect(json.data.committed_info).toBe(null)
    })
  )

  it.effect("an id in place of a public key is accepted, and no key is installed", () =>
    Effect.gen(function* () {
      const { json, status } = yield* create("keyless", { ssh_keys: [15398] })
      const got = yield* call("GET", `/nodes/${json.data.id}/`)
      expect([status, got.json.data.ssh_keys]).toEqual([200, []])
    })
  )

  it.effect("a delete answers 200 and the vm_id, keeps the address if asked, and can come twice", () =>
    Effect.gen(function* () {
      const { id, vm_id } = (yield* create("short-lived")).json.data
      const expected = vector("delete-200-vm-id")
      const query = { reserve_ip_required: "true" }
      for (const _ of [1, 2]) {
        const { json, status } = yield* call("DELETE", `/nodes/${id}/`, { query })
        expect([status, shapeOf(json)]).toEqual([200, shapeOf(expected.body)])
        expect(json.data).toEqual({ vm_id, location: "Delhi" })
      }
      expect((yield* call("GET", `/nodes/${id}/`)).json.data.status).toBe("Terminating")
      yield* (yield* TestServer).advance("2 seconds")
      const { json, status } = yield* call("GET", `/nodes/${id}/`)
      expect([status, json]).toEqual([404, vector("get-404-detail").body])
    })
  )

  it.effect("statuses are in today's words", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const { id } = (yield* create("phases")).json.data
      const shown = Effect.map(call("GET", `/nodes/${id}/`), ({ json }) => json.data.status)
      expect(yield* shown).toBe("Creating")
      yield* server.advance("2 seconds")
      expect(yield* shown).toBe("Running")
      const params = { world: server.id, id }
      yield* Effect.orDie(server.control.nodes.change({ params, payload: { status: "power-off", locked: true } }))
      expect(yield* shown).toBe("Powered off")
      const refused = yield* call("DELETE", `/nodes/${id}/`)
      expect([refused.status, refused.json.errors]).toEqual([412, "Node is locked"])
    })
  )

  it.effect("a commitment answers a status and a message, and the node then shows it", () =>
    Effect.gen(function* () {
      const { id } = (yield* create("kept-1")).json.data
      const { committed_sku } = (yield* offer("C3.8GB")).specs
      const body = { vcn_id: id, node_status: "auto_renew", committed_plan: committed_sku[0].committed_sku_id }
      const set = yield* call("POST", "/update_committed_node_status/", { body })
      expect([set.status, set.json]).toEqual([200, vector("commitment-200").body])
      const { data } = (yield* call("GET", `/nodes/${id}/`)).json
      expect([data.vm_type, data.committed_info.committed_sku_id]).toEqual(["committed_vm", body.committed_plan])
      const unknown = yield* call("POST", "/update_committed_node_status/", { body: { ...body, vcn_id: 1 } })
      expect([unknown.status, unknown.json]).toEqual([404, vector("commitment-404").body])
    })
  )

  it.effect("a create with cn_id and cn_status begins committed", () =>
    Effect.gen(function* () {
      const { committed_sku } = (yield* offer("C3.8GB")).specs
      const more = { cn_id: committed_sku[1].committed_sku_id, cn_status: "auto_terminate", number_of_instances: 1 }
      const { json } = yield* create("committed-1", more)
      expect(shapeOf(json)).toEqual(shapeOf(vector("create-nested-committed").body))
      const [record] = json.data.node_create_response
      expect([record.is_committed, record.vm_type]).toEqual([true, "committed_vm"])
      const { data } = (yield* call("GET", `/nodes/${record.id}/`)).json
      expect(data.committed_info).toMatchObject({ committed_days: 365, committed_node_status: "auto_terminate" })
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
    })
  )

  it.effect("the fields that only today's create has are accepted, and others are ignored", () =>
    Effect.gen(function* () {
      const body = yield* bodyOf("many-fields")
      const more = {
        vpc_id: 7,
        subnet_id: 8,
        enable_bitninja: true,
        image_id: 5,
        disk: 40,
        region: "ncr",
        unheard_of: {}
      }
      const { json, status } = yield* call("POST", "/nodes/", { body: { ...body, ...more } })
      expect([status, json.data.disk]).toEqual([200, "100 GB"])
    })
  )

  it.effect("the journal has the project and the location of a request", () =>
    Effect.gen(function* () {
      yield* call("GET", "/nodes/")
      const journal = yield* (yield* TestServer).journal
      expect(journal.at(-1)).toMatchObject({
        operation: "nodes.list",
        query: { project_id: "1", location: delhi.location }
      })
    })
  )
})

layer(TestServer.layer({ dialect: "today" }))("statuses that no request leads to", (it) => {
  it.effect("are forced by a test, until the node terminates or shows its own again", () =>
    Effect.gen(function* () {
      const { control, id: world } = yield* TestServer
      const { id } = (yield* create("odd-1")).json.data
      const params = { world, id }
      const force = (payload: { readonly shows: "Failed" | "Saving" | null }) =>
        Effect.orDie(control.nodes.change({ params, payload }))
      const shown = Effect.map(call("GET", "/nodes/"), ({ json }) => json.data[0].status)
      yield* force({ shows: "Failed" })
      expect(yield* shown).toBe("Failed")
      yield* force({ shows: null })
      expect(yield* shown).toBe("Creating")
      yield* force({ shows: "Saving" })
      yield* call("DELETE", `/nodes/${id}/`)
      expect(yield* shown).toBe("Terminating")
    })
  )
})

layer(TestServer.layer({ scenario: "small" }))("in a world of the documented interface", (it) => {
  it.effect("such a status is refused", () =>
    Effect.gen(function* () {
      const { control, id: world } = yield* TestServer
      const [node] = yield* Effect.orDie(control.nodes.list({ params: { world }, query: {} }))
      const params = { world, id: node!.id }
      const refused = yield* Effect.flip(control.nodes.change({ params, payload: { shows: "Failed" } }))
      expect(refused).toMatchObject({ code: 422, errors: { shows: ["This needs the dialect today."] } })
    })
  )
})
