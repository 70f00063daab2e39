import { request } from "node:http"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Fault } from "../../src/injection/catalogue.ts"
import { TestServer, type TestWorld } from "../../src/testing.ts"
import { nodeOf, requestAs } from "../http/service.ts"
import { countNodes, create, get, list, rawList } from "./client.ts"

const worldWith = Effect.fnUntraced(function* (faults: ReadonlyArray<Fault>) {
  const world = yield* (yield* TestServer).makeWorld({ scenario: "small" })
  yield* world.arm(faults)
  return world
})

/** How often each armed fault has fired, and what the journal has of each request. */
const counts = Effect.fnUntraced(function* (world: TestWorld) {
  const armed = yield* Effect.orDie(world.control.faults.read({ params: { world: world.id } }))
  return {
    seen: armed.map(({ seen }) => seen),
    fired: armed.map(({ fired }) => fired),
    journal: (yield* world.journal).map(({ faults }) => faults)
  }
})

layer(TestServer.layer())("several faults at one request", (it) => {
  const answering: ReadonlyArray<readonly [fault: Fault, ends: unknown]> = [
    [{ fault: "status", status: 503 }, 503],
    [{ fault: "html-error", status: 502 }, 502],
    [{ fault: "success-with-failure-code" }, 200],
    [{ fault: "listed-but-404" }, 404],
    [{ fault: "rate-limited" }, 429],
    [{ fault: "rate-limited-bare" }, 429],
    [{ fault: "reset-before-request" }, "ECONNRESET"]
  ]

  for (const [first, ends] of answering) {
    it.effect(`of those that answer, the first armed one does: ${first.fault}`, () =>
      Effect.gen(function* () {
        const world = yield* worldWith([])
        const [node] = yield* Effect.orDie(world.control.nodes.list({ params: { world: world.id }, query: {} }))
        const others = answering.map(([fault]) => fault).filter(({ fault }) => fault !== first.fault)
        yield* world.arm([{ ...first, times: 1 }, ...others.map((fault) => ({ ...fault, times: 1 }))])
        const outcome = yield* get(world, node!.id)
        expect(outcome.failure ?? outcome.status).toBe(ends)
        const nothing = others.map(() => 0)
        expect(yield* counts(world)).toEqual({
          seen: [1, ...others.map(() => 1)],
          fired: [1, ...nothing],
          journal: [[first.fault]]
        })
        // None of the other faults is used up: each of them answers one request.
        for (const { fault } of others) {
          const next = yield* get(world, node!.id)
          expect([fault, next.failure ?? next.status]).toEqual([
            fault,
            answering.find(([other]) => other.fault === fault)![1]
          ])
        }
        expect((yield* get(world, node!.id)).status).toBe(200)
      })
    )
  }

  it.effect("two of one name are a sequence: each answers as often as it may, in its turn", () =>
    Effect.gen(function* () {
      const world = yield* worldWith([
        { fault: "status", status: 500, times: 2 },
        { fault: "status", status: 502, times: 1 }
      ])
      const statuses = yield* Effect.forEach([1, 2, 3, 4], () => Effect.map(list(world), ({ status }) => status))
      expect(statuses).toEqual([500, 500, 502, 200])
    })
  )

  it.effect("a fault without an answer leaves it to the next: listed-but-404 for a missing node", () =>
    Effect.gen(function* () {
      const world = yield* worldWith([{ fault: "listed-but-404" }, { fault: "status", status: 418 }])
      expect((yield* get(world, 1)).status).toBe(418)
      expect(yield* counts(world)).toMatchObject({ fired: [0, 1], journal: [["status"]] })
    })
  )

  it.effect(
    "a fault's answer takes headers, form, delay and wire of others, and nothing about records or the world",
    () =>
      Effect.gen(function* () {
        const body = { message: "Success", code: 200, data: { id: 1, name: "web", status: "running" }, errors: {} }
        const world = yield* worldWith([])
        const [node] = yield* Effect.orDie(world.control.nodes.list({ params: { world: world.id }, query: {} }))
        const own = { ...body, data: { ...body.data, id: node!.id } }
        yield* world.arm([
          { fault: "duplicate-create" },
          { fault: "create-false-negative" },
          { fault: "create-lost-reply" },
          { fault: "field-missing", field: "name" },
          { fault: "status-unknown" },
          { fault: "status", status: 202, body: own },
          { fault: "date-skew", by: "1h" },
          { fault: "headers-missing" }
        ])
        const reply = yield* create(world)
        expect([reply.status, reply.json, yield* countNodes(world)]).toEqual([202, own, 5])
        expect(reply.headers.get("date")).toBe("Thu, 01 Jan 2026 01:00:00 GMT")
        expect(reply.headers.get("ratelimit-limit")).toBeNull()
        expect(yield* counts(world)).toMatchObject({
          fired: [0, 0, 0, 0, 0, 1, 1, 1],
          journal: [["status", "date-skew", "headers-missing"]]
        })
        yield* world.arm([{ fault: "truncated-body" }, { fault: "status", status: 500 }])
        const cut = yield* list(world)
        expect([cut.status, cut.failure === undefined]).toEqual([500, false])
        expect((yield* counts(world)).fired).toEqual([1, 1])
      })
  )

  it.effect("a request that never arrives affects nothing else", () =>
    Effect.gen(function* () {
      const faults: ReadonlyArray<Fault> = [
        { fault: "latency", delay: "1 hour" },
        { fault: "date-skew" },
        { fault: "window-changes" },
        { fault: "reset-after-request" },
        { fault: "reset-before-request" }
      ]
      const world = yield* worldWith(faults)
      expect((yield* list(world)).failure).toBe("ECONNRESET")
      expect(yield* counts(world)).toMatchObject({ fired: [0, 0, 0, 0, 1], journal: [["reset-before-request"]] })
    })
  )

  it.effect(
    "a reply that is lost leaves nothing to those that would show in it, and the world to those that change it",
    () =>
      Effect.gen(function* () {
        for (const fault of ["create-lost-reply", "reset-after-request", "garbage-bytes"] as const) {
          const world = yield* worldWith([
            { fault: "create-false-negative", times: 1 },
            { fault: "field-missing", times: 1 },
            { fault: "headers-garbage", times: 1 },
            { fault, times: 1 },
            { fault: "truncated-body", times: 1 },
            { fault: "duplicate-create", times: 1 }
          ])
          expect((yield* create(world)).failure).toBeDefined()
          expect([fault, yield* countNodes(world)]).toEqual([fault, 7])
          expect(yield* counts(world)).toEqual({
            seen: [1, 1, 1, 1, 1, 1],
            fired: [0, 0, 0, 1, 0, 1],
            journal: [[fault, "duplicate-create"]]
          })
        }
      })
  )

  it.effect("on the wire the first armed one acts that can", () =>
    Effect.gen(function* () {
      const world = yield* worldWith([
        { fault: "create-lost-reply" },
        { fault: "truncated-body", share: 0.5, times: 1 },
        { fault: "reset-after-request", times: 1 }
      ])
      // The first fault acts only on a create, so it does not act on a list.
      const cut = yield* list(world)
      expect([cut.status, cut.failure === undefined]).toEqual([200, false])
      expect((yield* list(world)).failure).toBe("ECONNRESET")
      expect((yield* list(world)).failure).toBeUndefined()
      expect((yield* counts(world)).journal).toEqual([["truncated-body"], ["reset-after-request"], []])
    })
  )

  it.effect("changes of the same reply add up, in the order in which they were armed", () =>
    Effect.gen(function* () {
      const world = yield* worldWith([
        { fault: "headers-missing", headers: "ratelimit-limit" },
        { fault: "headers-garbage", value: "soon" },
        { fault: "headers-missing", headers: ["ratelimit-reset", "x-absent"] },
        { fault: "headers-missing", headers: "x-absent" },
        { fault: "field-missing", field: "name" },
        { fault: "field-type-changed", field: "id" }
      ])
      const { headers, json } = yield* list(world)
      expect(["limit", "remaining", "reset"].map((name) => headers.get(`ratelimit-${name}`))).toEqual([
        "soon",
        "soon",
        null
      ])
      expect([json.data[0].name, typeof json.data[0].id]).toEqual([undefined, "string"])
      // A fault that should remove a missing field has not acted.
      expect((yield* counts(world)).fired).toEqual([1, 1, 1, 0, 1, 1])
    })
  )

  it.effect(
    "where the service's own 429 comes, an answer that costs allowance has not acted, and a free one does",
    () =>
      Effect.gen(function* () {
        const world = yield* (yield* TestServer).makeWorld({ rateLimit: { limit: 1 } })
        yield* world.arm([{ fault: "status", status: 500, after: 1, times: 1 }])
        const statuses = yield* Effect.forEach([1, 2, 3], () => Effect.map(list(world), ({ status }) => status))
        expect(statuses).toEqual([200, 429, 429])
        expect((yield* counts(world)).fired).toEqual([0])
        yield* world.advance("1 hour")
        expect((yield* list(world)).status).toBe(500)
        yield* world.arm([{ fault: "rate-limited-bare" }])
        expect((yield* list(world)).headers.get("ratelimit-limit")).toBeNull()
      })
  )

  it.effect(
    "a fault of the wire acts on the reply as the others have made it: an empty list is cut within its own length",
    () =>
      Effect.gen(function* () {
        const world = yield* worldWith([{ fault: "empty-list" }])
        const empty = (yield* list(world)).text
        yield* world.arm([{ fault: "truncated-body", share: 0.5 }, { fault: "empty-list" }])
        const { bytes, ended } = yield* rawList(world)
        expect([ended, bytes.toString().split("\r\n\r\n")[1]]).toEqual([
          "end",
          empty.slice(0, Math.floor(empty.length / 2))
        ])
        expect((yield* counts(world)).fired).toEqual([1, 1])
      })
  )

  it.effect("requests at once: a fault acts as often as it may, and no more", () =>
    Effect.gen(function* () {
      const world = yield* worldWith([{ fault: "duplicate-create", times: 1 }])
      const [url, { body, headers }] = requestAs(world, "POST", "/nodes/", { raw: JSON.stringify(nodeOf("web")) })
      const text = String(body)
      const requests = [1, 2].map(() => request(url, { method: "POST", headers }))
      const replies = requests.map(
        (sent) => new Promise<number | undefined>((resolve) => sent.once("response", (got) => resolve(got.statusCode)))
      )
      for (const sent of requests) sent.write(text.slice(0, 10))
      // The fault is due for both requests before either has arrived whole.
      while ((yield* counts(world)).seen[0]! < 2) continue
      for (const sent of requests) sent.end(text.slice(10))
      expect(yield* Effect.promise(() => Promise.all(replies))).toEqual([202, 202])
      expect(yield* countNodes(world)).toBe(8)
      expect((yield* counts(world)).fired).toEqual([1])
    })
  )
})
