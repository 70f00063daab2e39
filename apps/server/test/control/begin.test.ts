import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestServer, type TestWorld, type TestWorldOptions } from "../../src/testing.ts"
import { serve } from "../cli/berthServer.ts"
import { type Account, callAs, errorsOf, nodeOf } from "../http/service.ts"
import { control, createIn, statusIn } from "./plane.ts"

const makeWorld = (options: TestWorldOptions) => Effect.flatMap(TestServer, (server) => server.makeWorld(options))

/** The nodes of a world: id, name, status. */
const nodesIn = (world: Account) =>
  Effect.map(callAs(world, "GET", "/nodes/"), ({ json }) =>
    (json.data as ReadonlyArray<{ id: number; name: string; status: string }>).map(({ id, name, status }) => [
      id,
      name,
      status
    ])
  )

/** All bytes of a reply. */
const bytesOf = (world: TestWorld, path: string) =>
  Effect.map(callAs(world, "GET", path), ({ headers, status, text }) => [status, text, [...headers]])

layer(TestServer.layer())("when a world begins", (it) => {
  it.effect("its clock begins at startAt: date, resets, records", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ startAt: "2028-02-29T23:59:58Z", rateLimit: { window: "1 hour" } })
      const made = yield* callAs(world, "POST", "/nodes/", { body: nodeOf("web") })
      expect(made.headers.get("date")).toBe("Tue, 29 Feb 2028 23:59:58 GMT")
      expect(made.headers.get("ratelimit-reset")).toBe(String(Date.UTC(2028, 2, 1, 0, 59, 58) / 1000))
      expect(made.json.data.created_at).toMatch(/^2028-02-29T23:59:58\./)
      expect(DateTime.formatIso(yield* world.advance("2 seconds"))).toBe("2028-03-01T00:00:00.000Z")
    })
  )

  it.effect("a clock that passes begins there too, and a reset begins there again", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ clock: { times: 1 }, startAt: DateTime.makeUnsafe("2030-01-01T00:00:00Z") })
      yield* world.advance("1 day")
      expect(DateTime.formatIso(yield* world.now)).toMatch(/^2030-01-02T00:00:/)
      yield* control("POST", `/worlds/${world.id}/reset`)
      expect(DateTime.formatIso(yield* world.now)).toMatch(/^2030-01-01T00:00:/)
    })
  )

  it.effect("an instant that is none, or out of bounds, is refused by its field", () =>
    Effect.gen(function* () {
      for (const startAt of [
        "yesterday",
        "2026-01-01",
        "2026-13-01T00:00:00Z",
        "2001-12-31T23:59:59Z",
        "3000-01-01T00:00:00Z",
        7
      ]) {
        expect(Object.keys(errorsOf(yield* control("POST", "/worlds", { startAt }), 422))).toEqual(["startAt"])
      }
    })
  )
})

layer(TestServer.layer())("the nodes that a world is given", (it) => {
  it.effect("are there from the start, in the order of their ids, and new ones come after them", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        scenario: "small",
        nodes: [{ name: "high", id: 5_000_000 }, { name: "low", id: 7 }, { name: "next" }, { name: "lowest", id: 1 }]
      })
      const nodes = yield* nodesIn(world)
      expect(nodes.map(([, name]) => name)).toEqual([
        "lowest",
        "low",
        "web-1",
        "web-2",
        "database",
        "build",
        "backup",
        "next",
        "high"
      ])
      expect([nodes[0]![0], nodes[1]![0], nodes[8]![0]]).toEqual([1, 7, 5_000_000])
      expect(nodes[7]![0]).toBe((nodes[6]![0] as number) + 1)
      expect(yield* createIn(world, "new")).toBe(5_000_001)
      expect((yield* callAs(world, "GET", "/nodes/7/")).json.data).toMatchObject({
        id: 7,
        name: "low",
        status: "running"
      })
      expect((yield* callAs(world, "GET", "/nodes/8/")).status).toBe(404)
    })
  )

  it.effect("show their status, and live on from it", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        provisioning: "10 seconds",
        termination: "20 seconds",
        nodes: [
          { name: "a", id: 1 },
          { name: "b", id: 2, status: "created" },
          { name: "c", id: 3, status: "power-off" },
          { name: "d", id: 4, status: "terminate" },
          { name: "e", id: 5, status: "running", createdAt: "2026-01-01T00:00:00Z" },
          { name: "f", id: 6, createdAt: "2025-12-31T23:59:55Z" }
        ]
      })
      const statuses = Effect.forEach([1, 2, 3, 4, 5, 6], (id) => statusIn(world, id))
      expect(yield* statuses).toEqual(["running", "created", "power-off", "terminate", "running", "created"])
      yield* world.advance("5 seconds")
      expect(yield* statuses).toEqual(["running", "created", "power-off", "terminate", "running", "running"])
      yield* world.advance("15 seconds")
      expect(yield* statuses).toEqual(["running", "running", "power-off", "404", "running", "running"])
    })
  )

  it.effect("have the plan, the image, the lock, the backups and the age that they are given", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        nodes: [
          { name: "plain" },
          {
            name: "mine",
            plan: "C-4VCPU-16RAM-100DISK",
            image: "Debian-12",
            locked: true,
            backups: true,
            createdAt: "2025-06-01T12:00:00Z"
          },
          { name: "click", plan: "C-2VCPU-4RAM-50DISK-1CLICK" }
        ]
      })
      const { json } = yield* callAs(world, "GET", "/nodes/")
      expect(json.data.map(({ backup, plan }: any) => [backup, plan])).toEqual([
        [false, "A-1VCPU-1RAM-15DISK"],
        [true, "C-4VCPU-16RAM-100DISK"],
        [false, "C-2VCPU-4RAM-50DISK-1CLICK"]
      ])
      expect(json.data[1].created_at).toMatch(/^2025-06-01T12:00:00\./)
      expect((yield* callAs(world, "DELETE", `/nodes/${json.data[1].id}/`)).status).toBe(409)
      // An image that is saved from the node shows the node's image.
      const saved = yield* control("POST", `/worlds/${world.id}/saved-images`, {
        name: "golden",
        nodeId: json.data[1].id
      })
      expect(saved.json).toMatchObject({ image: "Debian-12" })
    })
  )

  it.effect("are the same bytes for the same seed, and come back with a reset, here and where a snapshot is put", () =>
    Effect.gen(function* () {
      const options = {
        seed: 9,
        startAt: "2027-07-07T07:07:07Z",
        nodes: [
          { name: "a", id: 3 },
          { name: "b", status: "power-off", locked: true }
        ]
      } as const
      const [one, two, other] = [yield* makeWorld(options), yield* makeWorld(options), yield* makeWorld({})]
      const seen = yield* bytesOf(one, "/nodes/")
      expect(yield* bytesOf(two, "/nodes/")).toEqual(seen)
      yield* callAs(two, "DELETE", "/nodes/3/")
      yield* createIn(two, "c")
      yield* two.advance("1 hour")
      const { json: snapshot } = yield* control("GET", `/worlds/${two.id}/snapshot`)
      expect((yield* control("PUT", `/worlds/${other.id}/snapshot`, snapshot)).status).toBe(200)
      expect((yield* control("GET", `/worlds/${other.id}/snapshot`)).json).toEqual(snapshot)
      for (const again of [two, other]) {
        expect((yield* nodesIn(again)).map(([, name]) => name)).toEqual(["b", "c"])
        yield* control("POST", `/worlds/${again.id}/reset`)
        expect(yield* bytesOf(again, "/nodes/")).toEqual(seen)
      }
    })
  )

  it.effect("may be left out of a snapshot, as in the format before", () =>
    Effect.gen(function* () {
      const one = yield* makeWorld({ scenario: "small" })
      const { json } = yield* control("GET", `/worlds/${one.id}/snapshot`)
      const { nodes: _nodes, startAt: _startAt, ...settings } = json.settings
      const before = { ...json, format: "berth-world/2", settings }
      expect((yield* control("PUT", `/worlds/${one.id}/snapshot`, before)).status).toBe(200)
      expect((yield* control("GET", `/worlds/${one.id}/snapshot`)).json).toEqual(json)
    })
  )

  it.effect("are refused by the path of what is wrong, and then there is no world", () =>
    Effect.gen(function* () {
      const count = Effect.map(control("GET", "/worlds"), ({ json }) => json.length as number)
      const before = yield* count
      const refusal = (options: unknown) =>
        Effect.map(control("POST", "/worlds", options), (reply) => errorsOf(reply, 422))
      const a = { name: "a" }
      for (const [options, errors] of [
        [
          { nodes: [a, a, a, { ...a, plan: "C-4VCPU-16RAM-100DISC" }] },
          { "nodes.3.plan": ["There is no plan C-4VCPU-16RAM-100DISC; did you mean C-4VCPU-16RAM-100DISK?"] }
        ],
        [
          {
            nodes: [
              { ...a, plan: "huge" },
              { ...a, image: "Debain-12" },
              { ...a, image: 1 }
            ]
          },
          {
            "nodes.0.plan": ["There is no plan huge: the image list of this world has them."],
            "nodes.1.image": ["There is no image Debain-12; did you mean Debian-12?"],
            "nodes.2.image": ["There is no image 1: the image list of this world has them."]
          }
        ],
        [
          { nodes: [{ ...a, plan: "A-1VCPU-2RAM-20DISK", image: "Windows-Server-2022" }] },
          { "nodes.0.image": ["The image Windows-Server-2022 does not go with the plan A-1VCPU-2RAM-20DISK."] }
        ],
        [
          {
            nodes: [
              { ...a, id: 4 },
              { ...a, id: 4 }
            ]
          },
          { "nodes.1.id": ["Another node has the id 4."] }
        ],
        [
          { uniqueNames: true, nodes: [a, a] },
          { "nodes.1.name": ["Another node has this name, and names are unique here."] }
        ],
        [
          { clock: "frozen", nodes: [{ ...a, createdAt: "2026-01-01T00:00:01Z" }] },
          { "nodes.0.createdAt": ["This is after the start of the world."] }
        ]
      ] as const) {
        expect(yield* refusal(options)).toEqual(errors)
      }
      const paths = yield* refusal({
        nodes: [
          {},
          { name: " " },
          { ...a, status: "gone" },
          { ...a, id: 0 },
          { ...a, id: 10_000_001 },
          { ...a, plans: "x" },
          7
        ]
      })
      expect(Object.keys(paths)).toEqual([
        "nodes.0.name",
        "nodes.1.name",
        "nodes.2.status",
        "nodes.3.id",
        "nodes.4.id",
        "nodes.5.plans",
        "nodes.6"
      ])
      expect(Object.keys(yield* refusal({ scenario: "small", uniqueNames: true, nodes: [{ name: "web-2" }] }))).toEqual(
        ["nodes.0.name"]
      )
      expect(Object.keys(yield* refusal({ nodes: Array.from({ length: 10_001 }, () => a) }))).toEqual(["nodes"])
      const world = yield* makeWorld({ scenario: "small" })
      const [first] = yield* nodesIn(world)
      expect(Object.keys(yield* refusal({ scenario: "small", nodes: [{ ...a, id: first![0] }] }))).toEqual([
        "nodes.0.id"
      ])
      expect(yield* count).toBe(before + 1)
    })
  )

  it.effect("are checked in a snapshot too, because a reset uses them", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ nodes: [{ name: "a" }] })
      const path = `/worlds/${world.id}/snapshot`
      const { json } = yield* control("GET", path)
      const bad = { ...json, settings: { ...json.settings, nodes: [{ name: "a", plan: "huge" }] } }
      expect(Object.keys(errorsOf(yield* control("PUT", path, bad), 422))).toEqual(["settings.nodes.0.plan"])
      const far = { ...json, nextNodeId: 20_000_001 }
      expect(Object.keys(errorsOf(yield* control("PUT", path, far), 422))).toEqual(["nextNodeId"])
    })
  )
})

describe("a server with its own start time", () => {
  it.effect("begins its main world so", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      expect((yield* nodesIn(server)).map(([id, name]) => [id, name])).toEqual([[12, "given"]])
      expect(DateTime.formatIso(yield* server.now)).toBe("2027-01-01T00:00:00.000Z")
    }).pipe(Effect.provide(TestServer.layer({ startAt: "2027-01-01T00:00:00Z", nodes: [{ name: "given", id: 12 }] })))
  )

  it.live("follows --start-at, and keeps given nodes in its state file", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-begin-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const args = [
        "--port",
        "0",
        "--clock",
        "frozen",
        "--start-at",
        "2031-01-01T00:00:00Z",
        "--state",
        join(folder, "state")
      ]
      const call = (url: string, method: string, path: string, body?: unknown) =>
        Effect.promise(async (signal) => {
          const headers = { "content-type": "application/json" }
          const init = body === undefined ? {} : { body: JSON.stringify(body) }
          return (await fetch(`${url}/_mock${path}`, { method, headers, signal, ...init })).json() as any
        })
      const first = yield* serve(args)
      expect((yield* call(first.ready.url, "GET", "/worlds/default")).now).toBe("2031-01-01T00:00:00.000Z")
      yield* call(first.ready.url, "POST", "/worlds", { clock: "frozen", nodes: [{ name: "kept", id: 77 }] })
      yield* first.stop("SIGTERM")
      const { url } = (yield* serve(args)).ready
      yield* call(url, "PATCH", "/worlds/w1/nodes/77", { status: "power-off" })
      yield* call(url, "POST", "/worlds/w1/reset")
      expect(yield* call(url, "GET", "/worlds/w1/nodes")).toMatchObject([{ id: 77, name: "kept", status: "running" }])
    })
  )
})
