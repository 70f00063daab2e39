import { expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestServer } from "../../src/testing.ts"
import { callAs, errorsOf, nodeOf } from "../http/service.ts"
import { control, createIn, statusIn } from "./plane.ts"

layer(TestServer.layer())("nodes that a test forces", (it) => {
  it.effect("the id of a node is written in digits alone", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({ nodes: [{ name: "web", id: 100_000 }] })
      for (const [id, status] of [
        ["100000", 200],
        ["1e5", 404],
        ["100000.0", 404],
        ["0x186a0", 404],
        ["+100000", 404]
      ] as const) {
        const reply = yield* control("PATCH", `/worlds/${world.id}/nodes/${id}`, { locked: true })
        expect([id, reply.status]).toEqual([id, status])
      }
    })
  )

  it.effect("a forced status stays, whatever the node's life would have it show, until the node terminates", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld()
      const id = yield* createIn(world, "web")
      const path = `/worlds/${world.id}/nodes/${id}`
      expect((yield* control("PATCH", path, { status: "power-off" })).json).toMatchObject({
        id,
        status: "power-off",
        forced: true
      })
      yield* world.advance("1 day")
      expect(yield* statusIn(world, id)).toBe("power-off")
      expect((yield* callAs(world, "GET", "/nodes/")).json.data[0].status).toBe("power-off")
      yield* control("PATCH", path, { status: null })
      expect(yield* statusIn(world, id)).toBe("running")
      yield* control("PATCH", path, { status: "created" })
      expect(yield* statusIn(world, id)).toBe("created")
      yield* callAs(world, "DELETE", `/nodes/${id}/`)
      expect(yield* statusIn(world, id)).toBe("terminate")
      yield* control("PATCH", path, { status: "running" })
      yield* world.advance("1 day")
      expect(yield* statusIn(world, id)).toBe("running")
      yield* control("PATCH", path, { status: "terminate" })
      expect(yield* statusIn(world, id)).toBe("terminate")
      yield* world.advance("2 seconds")
      expect(yield* statusIn(world, id)).toBe("404")
      errorsOf(yield* control("PATCH", path, { status: "running" }), 404)
    })
  )

  it.effect("a locked node refuses what users ask of it, and shows that it is locked", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld()
      const id = yield* createIn(world, "web")
      const path = `/worlds/${world.id}/nodes/${id}`
      expect((yield* control("PATCH", path, { locked: true })).json).toMatchObject({ locked: true, forced: false })
      expect((yield* callAs(world, "GET", `/nodes/${id}/`)).json.data.locked).toBe(true)
      errorsOf(yield* callAs(world, "DELETE", `/nodes/${id}/`), 409)
      errorsOf(
        yield* callAs(world, "POST", "/update_committed_node_status/", {
          body: { vcn_id: id, node_status: "hourly_billing" }
        }),
        409
      )
      yield* control("PATCH", path, { locked: false })
      expect((yield* callAs(world, "DELETE", `/nodes/${id}/`)).status).toBe(204)
    })
  )

  it.effect("an unknown status or node is refused, and nothing changes", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld()
      const id = yield* createIn(world, "web")
      const path = `/worlds/${world.id}/nodes/${id}`
      const errors = errorsOf(yield* control("PATCH", path, { status: "gone", locked: "yes", name: "x" }), 422)
      expect(Object.keys(errors).sort()).toEqual(["locked", "name", "status"])
      errorsOf(yield* control("PATCH", `/worlds/${world.id}/nodes/1`, { locked: true }), 404)
      errorsOf(yield* control("PATCH", `/worlds/${world.id}/nodes/x`, { locked: true }), 404)
      expect((yield* control("GET", `/worlds/${world.id}/nodes`)).json).toEqual([
        expect.objectContaining({ id, name: "web", status: "created", locked: false, forced: false })
      ])
    })
  )

  it.effect("nodes of certain names live otherwise: stuck, powered off, vanished", () =>
    Effect.gen(function* () {
      const { json: made } = yield* control("POST", "/worlds", {
        clock: "frozen",
        lives: [
          { nodes: "stuck-*", outcomes: { stuck: 1 } },
          { nodes: "off-?", outcomes: { powersOff: 1 }, outcomeAfter: "10 seconds" },
          { nodes: "gone-*", outcomes: { vanishes: 1 }, outcomeAfter: "20 seconds" },
          { nodes: "slow-*", provisioning: "1 hour", termination: "1 hour" }
        ]
      })
      const world = {
        ...(yield* TestServer),
        apiKey: Redacted.make(made.apiKey),
        accessToken: Redacted.make(made.accessToken),
        id: made.id as string
      }
      for (const name of ["stuck-1", "off-1", "off-22", "gone-1", "slow-1", "web"]) yield* createIn(world, name)
      const statuses = Effect.map(control("GET", `/worlds/${world.id}/nodes`), ({ json }) =>
        Object.fromEntries(json.map(({ name, status }: any) => [name, status]))
      )
      const at = (advance: string) => Effect.andThen(control("POST", `/worlds/${made.id}/clock`, { advance }), statuses)
      const running = { "off-22": "running", "slow-1": "created", "stuck-1": "created", web: "running" }
      expect(yield* at("2 seconds")).toEqual({ ...running, "off-1": "running", "gone-1": "running" })
      expect(yield* at("10 seconds")).toEqual({ ...running, "off-1": "power-off", "gone-1": "running" })
      expect(yield* at("10 seconds")).toEqual({ ...running, "off-1": "power-off" })
      expect((yield* at("1 hour"))["slow-1"]).toBe("running")
      expect((yield* at("365 days"))["stuck-1"]).toBe("created")
    })
  )
})

layer(TestServer.layer())("saved images a test asks for", (it) => {
  it.effect("can be listed and started from, as one of the account alone", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const [world, other] = [yield* server.makeWorld(), yield* server.makeWorld()]
      const id = yield* createIn(world, "web")
      const saved = yield* control("POST", `/worlds/${world.id}/saved-images`, { name: "Golden Web", nodeId: id })
      expect(saved.status).toBe(201)
      expect(saved.json).toMatchObject({ slug: "golden-web", image: "Ubuntu-24.04", plan: "C-4VCPU-16RAM-100DISK" })
      const list = yield* callAs(world, "GET", "/images/saved-images/")
      expect(list.json.data.map(({ name, size }: any) => [name, size])).toEqual([["Golden Web", saved.json.plan]])
      expect((yield* callAs(other, "GET", "/images/saved-images/")).json.data).toEqual([])
      const created = yield* callAs(world, "POST", "/nodes/", {
        body: {
          ...nodeOf("copy"),
          image: saved.json.id,
          is_saved_image: true,
          saved_image_template_id: saved.json.templateId
        }
      })
      expect(created.status).toBe(202)
    })
  )

  it.effect("of what there is not are refused by field, and two of one name have slugs of their own", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld()
      const save = (body: unknown) => control("POST", `/worlds/${world.id}/saved-images`, body)
      expect(Object.keys(errorsOf(yield* save({ name: " " }), 422))).toEqual(["name"])
      expect(Object.keys(errorsOf(yield* save({ name: "a", nodeId: 1 }), 422))).toEqual(["nodeId"])
      expect(Object.keys(errorsOf(yield* save({ name: "a", image: "BeOS-5" }), 422))).toEqual(["image"])
      expect(Object.keys(errorsOf(yield* save({ name: "a", plan: "Z-1VCPU-1RAM-1DISK" }), 422))).toEqual(["plan"])
      expect((yield* callAs(world, "GET", "/images/saved-images/")).json.data).toEqual([])
      const [one, two] = [(yield* save({ name: "Same" })).json, (yield* save({ name: "Same" })).json]
      expect(one.slug).toBe("same")
      expect(two.slug).toBe(`same-${two.id}`)
    })
  )
})
