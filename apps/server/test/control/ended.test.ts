import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { TestServer, type TestServerOptions } from "../../src/testing.ts"
import { callAs, errorsOf } from "../http/service.ts"
import { list } from "../injection/client.ts"
import { watchEvents } from "../journal/events.ts"
import { control } from "./plane.ts"

const idsOfWorlds = Effect.map(control("GET", "/worlds"), ({ json }) => json.map(({ id }: { id: string }) => id))

/** A world as `POST /_mock/worlds` makes it: nothing deletes it when the test ends. */
const makeWorld = Effect.gen(function* () {
  const { baseUrl } = yield* TestServer
  const { accessToken, apiKey, id } = (yield* control("POST", "/worlds", { seed: 7, clock: "frozen" })).json
  return { id: id as string, baseUrl, apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) }
})

layer(TestServer.layer())("a world that has ended", (it) => {
  it.effect("keeps its journal, which can be read, filtered and verified", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* callAs(world, "GET", "/nodes/")
      yield* control("POST", `/${world.id}/clock`, { advance: "9s" })
      yield* callAs(world, "GET", "/images/")
      const before = (yield* control("GET", `/${world.id}/requests`)).json
      expect((yield* control("DELETE", `/worlds/${world.id}`)).status).toBe(204)
      const ended = { at: "2026-01-01T00:00:09.000Z", reason: "deleted" }
      for (const path of [`/${world.id}/requests`, `/worlds/${world.id}/requests`]) {
        expect((yield* control("GET", path)).json).toEqual({ ...before, ended })
      }
      const filtered = yield* control("GET", `/${world.id}/requests?operation=images.list`)
      expect(filtered.json.requests.map(({ seq }: { seq: number }) => seq)).toEqual([2])
      const expected = [{ operation: "nodes.list", count: 1 }]
      expect((yield* control("POST", `/${world.id}/requests/verify`, { expected })).json.ok).toBe(true)
      expect(yield* idsOfWorlds).not.toContain(world.id)
      const listed = (yield* control("GET", "/ended-worlds")).json
      expect(listed.at(-1)).toEqual({ id: world.id, seed: 7, ended, count: 2 })
    })
  )

  it.effect("answers everything else with 404, whose message states that it has ended", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* control("DELETE", `/worlds/${world.id}`)
      for (const [method, path, body] of [
        ["GET", ""],
        ["DELETE", ""],
        ["POST", "/reset"],
        ["GET", "/snapshot"],
        ["GET", "/clock"],
        ["POST", "/clock", { advance: "1s" }],
        ["GET", "/nodes"],
        ["PATCH", "/nodes/1", {}],
        ["POST", "/saved-images", { name: "golden" }],
        ["GET", "/faults"],
        ["PUT", "/faults", []],
        ["DELETE", "/faults"],
        ["DELETE", "/requests"]
      ] as const) {
        const reply = yield* control(method, `/worlds/${world.id}${path}`, body)
        errorsOf(reply, 404)
        expect([method, path, reply.json.message]).toEqual([method, path, `World ${world.id} has ended.`])
      }
      expect((yield* control("GET", `/events?world=${world.id}`)).json.message).toBe(`World ${world.id} has ended.`)
      expect((yield* control("GET", `/${world.id}/clock`)).json.message).toBe(`World ${world.id} has ended.`)
      const never = yield* control("GET", "/worlds/w999999/clock")
      expect([never.status, never.json.message]).toEqual([404, "There is no world w999999."])
      errorsOf(yield* callAs(world, "GET", "/nodes/"), 401)
    })
  )

  it.effect("is gone for good once twenty others have ended, and its id is not used again", () =>
    Effect.gen(function* () {
      const { id } = yield* makeWorld
      yield* control("DELETE", `/worlds/${id}`)
      const others = yield* Effect.forEach(Array.from({ length: 20 }), () => makeWorld)
      for (const other of others) yield* control("DELETE", `/worlds/${other.id}`)
      const reply = yield* control("GET", `/${id}/requests`)
      expect([reply.status, reply.json.message]).toEqual([404, `World ${id} has ended.`])
      expect((yield* control("GET", `/${others[0]!.id}/requests`)).status).toBe(200)
      expect(new Set([id, ...others.map((other) => other.id)]).size).toBe(21)
    })
  )

  it.effect("is reported to those who watch, and ends the stream of its own events", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const [all, own] = [yield* watchEvents(), yield* watchEvents(`?world=${world.id}`)]
      yield* callAs(world, "GET", "/nodes/")
      yield* control("DELETE", `/worlds/${world.id}`)
      const end = { event: "world-ended", data: { world: world.id, reason: "deleted" } }
      expect((yield* all.next(2))[1]).toMatchObject(end)
      const received = yield* own.untilEnd
      expect(received.map(({ event }) => event)).toEqual(["request", "world-ended"])
      // A reader that reconnects gets both events again.
      const before = String(Number(received[0]!.id) - 1)
      expect(yield* (yield* watchEvents("", before)).next(2)).toEqual(received)
    })
  )
})

describe("a world that is idle", () => {
  const within = (options: TestServerOptions) => Effect.provide(TestServer.layer(options), { local: true })
  const wait = (minutes: number) => Effect.andThen(TestClock.adjust(`${minutes} minutes`), Effect.yieldNow)

  it.effect("ends, whatever its own clock shows; those that are used or were there from the start do not", () =>
    Effect.gen(function* () {
      const [idle, called, named, watched] = yield* Effect.all([makeWorld, makeWorld, makeWorld, makeWorld])
      yield* Effect.scoped(
        Effect.gen(function* () {
          const events = yield* watchEvents(`?world=${watched.id}`)
          for (let round = 0; round < 3; round++) {
            yield* wait(30)
            yield* callAs(called, "GET", "/nodes/")
            // A request with a wrong token also counts as a request to the world.
            yield* callAs({ ...called, accessToken: Redacted.make("wrong") }, "GET", "/nodes/")
            yield* control("GET", `/${named.id}/clock`)
            // Being listed does not count as use.
            yield* control("GET", "/worlds")
          }
          expect(yield* idsOfWorlds).toEqual(["default", "w1", called.id, named.id, watched.id])
          const ended = (yield* control("GET", `/${idle.id}/requests`)).json.ended
          expect(ended).toEqual({ at: "2026-01-01T00:00:00.000Z", reason: "idle" })
          yield* callAs(watched, "GET", "/nodes/")
          expect((yield* events.next(1))[0]!.data.world).toBe(watched.id)
        })
      )
      // The server notices only after a while that the watcher has gone.
      for (let round = 0; round < 50 && (yield* idsOfWorlds).length > 2; round++) yield* wait(30)
      expect(yield* idsOfWorlds).toEqual(["default", "w1"])
    }).pipe(
      within({
        worldTtl: "1 hour",
        accounts: [
          { apiKey: Redacted.make("k0"), accessToken: Redacted.make("t0") },
          { apiKey: Redacted.make("k1"), accessToken: Redacted.make("t1") }
        ]
      })
    )
  )

  it.effect("is not one whose request waits for its reply, however long that takes", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* control("PUT", `/${world.id}/faults`, [{ fault: "latency", delay: "5 hours" }])
      const asked = yield* Effect.forkChild(callAs(world, "GET", "/nodes/"))
      const journal = Effect.map(control("GET", `/${world.id}/requests`), ({ json }) => json.count as number)
      yield* Effect.repeat(journal, { while: (count: number) => count === 0 })
      for (let round = 0; round < 8; round++) yield* wait(30)
      expect(yield* idsOfWorlds).toContain(world.id)
      yield* wait(61)
      expect((yield* Fiber.join(asked)).status).toBe(200)
      for (let round = 0; round < 50 && (yield* idsOfWorlds).length > 1; round++) yield* wait(30)
      expect(yield* idsOfWorlds).toEqual(["default"])
    }).pipe(within({ worldTtl: "1 hour" }))
  )

  it.effect("stays in a test's service, unless the test asks for it", () =>
    Effect.gen(function* () {
      const { id } = yield* makeWorld
      yield* wait(60 * 24 * 365)
      expect(yield* idsOfWorlds).toEqual(["default", id])
      expect((yield* list(yield* TestServer)).status).toBe(200)
    }).pipe(within({}))
  )
})
