import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { allowanceOf } from "../http/service.ts"
import { at, bodyOf, call, create, delhi, vector } from "./today.ts"

const namesAt = (place: { readonly project_id: number; readonly location: string }) =>
  Effect.map(at(place)("GET", "/nodes/"), ({ json }) => json.data.map(({ name }: { name: string }) => name))

layer(TestServer.layer({ dialect: "today" }))("projects and locations", (it) => {
  it.effect("every operation needs a project and a location that there is", () =>
    Effect.gen(function* () {
      const operations = [
        ["GET", "/nodes/"],
        ["POST", "/nodes/"],
        ["GET", "/nodes/5/"],
        ["DELETE", "/nodes/5/"],
        ["GET", "/images/"],
        ["GET", "/images/saved-images/"],
        ["POST", "/update_committed_node_status/"]
      ] as const
      const expected = vector("list-400-project")
      for (const [method, path] of operations) {
        const body = method === "POST" ? {} : undefined
        const without = yield* at({ location: "Delhi" })(method, path, { body })
        expect([method, path, without.status, without.json]).toEqual([method, path, 400, expected.body])
      }
      for (const project_id of ["0", "-1", "x", "1.5", ""]) {
        expect((yield* at({ project_id, location: "Delhi" })("GET", "/nodes/")).json).toEqual(expected.body)
      }
      for (const place of [{ project_id: 1 }, { project_id: 1, location: "Atlantis" }]) {
        const { json, status } = yield* at(place)("GET", "/nodes/")
        expect([status, json]).toEqual([400, { status_code: 400, message: "Location not found" }])
      }
    })
  )

  it.effect("a list shows one project at one location", () =>
    Effect.gen(function* () {
      const chennai = { ...delhi, location: "Chennai" }
      const second = { ...delhi, project_id: 2 }
      yield* create("here-1")
      yield* create("there-1", {}, chennai)
      yield* create("second-1", {}, second)
      expect([yield* namesAt(delhi), yield* namesAt(chennai), yield* namesAt(second)]).toEqual([
        ["here-1"],
        ["there-1"],
        ["second-1"]
      ])
      expect(yield* namesAt({ project_id: 3, location: "Mumbai" })).toEqual([])
    })
  )

  it.effect("a node of another place is not found, and stays as it is", () =>
    Effect.gen(function* () {
      const { id } = (yield* create("apart-1")).json.data
      for (const place of [
        { ...delhi, location: "Chennai" },
        { ...delhi, project_id: 9 }
      ]) {
        const elsewhere = at(place)
        for (const method of ["GET", "DELETE"]) {
          const { json, status } = yield* elsewhere(method, `/nodes/${id}/`)
          expect([status, json]).toEqual([404, vector("get-404-detail").body])
        }
        const body = { vcn_id: id, node_status: "hourly_billing" }
        const set = yield* elsewhere("POST", "/update_committed_node_status/", { body })
        expect([set.status, set.json]).toEqual([404, vector("commitment-404").body])
      }
      expect((yield* call("GET", `/nodes/${id}/`)).json.data.status).toBe("Creating")
    })
  )

  it.effect("a name is unique in its project, whatever the location, and free again when its node is gone", () =>
    Effect.gen(function* () {
      const { id } = (yield* create("taken-1")).json.data
      const chennai = { ...delhi, location: "Chennai" }
      const again = yield* create("taken-1", {}, chennai)
      expect([again.status, again.json.errors]).toEqual([412, "Node with this name already exists in the project"])
      expect((yield* create("taken-1", {}, { ...delhi, project_id: 5 })).status).toBe(200)
      yield* call("DELETE", `/nodes/${id}/`)
      yield* (yield* TestServer).advance("2 seconds")
      expect((yield* create("taken-1", {}, chennai)).status).toBe(200)
    })
  )

  it.effect("a plan is of one location", () =>
    Effect.gen(function* () {
      const body = yield* bodyOf("astray-1")
      const { json, status } = yield* at({ ...delhi, location: "Chennai" })("POST", "/nodes/", { body })
      expect([status, json]).toEqual([412, vector("create-412-plan-is-sku").body])
    })
  )

  it.effect("the allowance belongs to the key, whatever place is asked for", () =>
    Effect.gen(function* () {
      const [, before] = allowanceOf((yield* call("GET", "/nodes/")).headers)
      const [, after] = allowanceOf((yield* at({ project_id: 8, location: "Noida" })("GET", "/nodes/")).headers)
      expect(after).toBe(before! - 1)
    })
  )

  it.effect("the control plane shows the place of each node", () =>
    Effect.gen(function* () {
      const { control, id: world } = yield* TestServer
      yield* create("seen-1", {}, { project_id: 77, location: "Mumbai" })
      const nodes = yield* Effect.orDie(control.nodes.list({ params: { world }, query: { count: 1000 } }))
      expect(nodes.find(({ name }) => name === "seen-1")).toMatchObject({ project: 77, location: "Mumbai" })
    })
  )
})

layer(
  TestServer.layer({ dialect: "today", scenario: "small", nodes: [{ name: "given-1", project: 7, location: "Noida" }] })
)("a world of today that begins with nodes", (it) => {
  it.effect("has the nodes of its scenario in project 1 in Delhi, and given nodes in their own places", () =>
    Effect.gen(function* () {
      expect(yield* namesAt(delhi)).toEqual(["web-1", "web-2", "database", "build", "backup"])
      expect(yield* namesAt({ project_id: 7, location: "Noida" })).toEqual(["given-1"])
    })
  )

  it.effect("keeps its places in a snapshot", () =>
    Effect.gen(function* () {
      const { control, id: world } = yield* TestServer
      const params = { world }
      const before = (yield* call("GET", "/nodes/")).text
      const snapshot = yield* Effect.orDie(control.worlds.snapshot({ params }))
      yield* create("later-1")
      yield* Effect.orDie(control.worlds.restore({ params, payload: snapshot }))
      expect((yield* call("GET", "/nodes/")).text).toBe(before)
      expect(yield* namesAt({ project_id: 7, location: "Noida" })).toEqual(["given-1"])
    })
  )

  it.effect("shows saved images of the place as records of a disk", () =>
    Effect.gen(function* () {
      const { json } = yield* call("GET", "/images/saved-images/")
      const expected = vector("saved-2026").body
      expect(Object.keys(json.data[0]).sort()).toEqual(Object.keys(expected.data[0]).sort())
      expect(json.data[0]).toMatchObject({
        name: "golden-web",
        image_state: "Ready",
        image_size: expect.stringMatching(/^\d+\.\d{3} GB$/),
        creation_time: "01-01-2026 00:00:00"
      })
      const elsewhere = yield* at({ ...delhi, location: "Mumbai" })("GET", "/images/saved-images/")
      expect(elsewhere.json.data).toEqual([])
      const { image_id, template_id } = json.data[0]
      const by = [{ image_id }, { saved_image_template_id: template_id }, { image: "golden-web" }]
      for (const [index, named] of by.entries()) {
        const made = yield* create(`from-saved-${index}`, { is_saved_image: true, ...named })
        expect([named, made.status]).toEqual([named, 200])
      }
      const [used] = (yield* call("GET", "/images/saved-images/")).json.data
      expect(used.running_vms).toBe("3")
      const unknown = yield* create("from-none", { is_saved_image: true, saved_image_template_id: 1 })
      expect([unknown.status, unknown.json.errors]).toEqual([412, "Image does not exist for this plan"])
    })
  )
})
