import { describe, expect, it, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { TestServer } from "../../src/testing.ts"
import { callAs, errorsOf, nodeOf } from "../http/service.ts"
import { control, createIn, statusIn } from "./plane.ts"

const dayMillis = 86_400_000
const start = Date.UTC(2026, 0, 1)

layer(TestServer.layer())("the clock of a world", (it) => {
  it.effect("is moved to an instant, and never back", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({ clock: "frozen" })
      const at = (advanceTo: string) => control("POST", `/worlds/${world.id}/clock`, { advanceTo })
      expect((yield* at("2026-03-01T12:00:00Z")).json).toEqual({ now: "2026-03-01T12:00:00.000Z", mode: "frozen" })
      expect((yield* at("2026-03-01T12:00:00Z")).status).toBe(200)
      expect(errorsOf(yield* at("2026-03-01T11:59:59Z"), 422)).toEqual({
        advanceTo: ["It is 2026-03-01T12:00:00.000Z: a world's time never goes back."]
      })
      expect(errorsOf(yield* at("2026-02-30T00:00:00Z"), 422)).toEqual({
        advanceTo: ["Expected next-event, or an instant such as 2026-01-01T00:00:00Z."]
      })
      expect(DateTime.formatIso(yield* world.advanceTo("2026-04-01T00:00:00Z"))).toBe("2026-04-01T00:00:00.000Z")
    }).pipe(Effect.scoped)
  )

  it.effect("is read, moved on, and set to pass differently", () =>
    Effect.gen(function* () {
      const { id } = yield* (yield* TestServer).makeWorld()
      const clock = (body?: unknown) => control(body === undefined ? "GET" : "POST", `/worlds/${id}/clock`, body)
      expect((yield* clock()).json).toEqual({ now: "2026-01-01T00:00:00.000Z", mode: "frozen" })
      expect((yield* clock({ advance: "9 seconds" })).json).toEqual({ now: "2026-01-01T00:00:09.000Z", mode: "frozen" })
      expect((yield* clock({ advance: "1m" })).json.now).toBe("2026-01-01T00:01:09.000Z")
      const passing = (yield* clock({ mode: "x60" })).json
      expect([passing.mode, passing.now]).toEqual(["x60", "2026-01-01T00:01:09.000Z"])
      const stopped = (yield* clock({ mode: "frozen" })).json
      expect(stopped.mode).toBe("frozen")
      expect((yield* clock()).json.now).toBe(stopped.now)
    })
  )

  it.effect("refuses an invalid time, or two changes at once, and then stays as it was", () =>
    Effect.gen(function* () {
      const { id } = yield* (yield* TestServer).makeWorld()
      const refused = [
        {},
        { advance: "9 seconds", mode: "real" },
        { advance: "-1 seconds" },
        { advance: "Infinity" },
        { advance: 9 },
        { advance: "11 years" },
        { advanceTo: "tomorrow" },
        { mode: "fast" },
        { forward: "9 seconds" }
      ]
      for (const body of refused) errorsOf(yield* control("POST", `/worlds/${id}/clock`, body), 422)
      errorsOf(yield* control("POST", "/worlds/w9999/clock", { advance: "1s" }), 404)
      expect((yield* control("GET", `/worlds/${id}/clock`)).json.now).toBe("2026-01-01T00:00:00.000Z")
    })
  )

  it.effect("ends with the year 9899, and goes no further by any step", () =>
    Effect.gen(function* () {
      const { id } = yield* (yield* TestServer).makeWorld({ startAt: "2999-12-31T00:00:00Z" })
      const last = "9899-12-31T23:59:59.999Z"
      const { json: snapshot } = yield* control("GET", `/worlds/${id}/snapshot`)
      const latest = Date.parse(last) - 20_000
      yield* control("PUT", `/worlds/${id}/snapshot`, { ...snapshot, latest })
      const clock = (body: unknown) => control("POST", `/worlds/${id}/clock`, body)
      expect(Object.keys(errorsOf(yield* clock({ advance: "10 years" }), 422))).toEqual(["advance"])
      expect((yield* clock({ advance: "20s" })).json.now).toBe(last)
      expect(Object.keys(errorsOf(yield* clock({ advance: "1ms" }), 422))).toEqual(["advance"])
      yield* clock({ mode: "x999999" })
      yield* TestClock.adjust("1 hour")
      expect((yield* control("GET", `/worlds/${id}`)).json.now).toBe(last)
      const { json: taken } = yield* control("GET", `/worlds/${id}/snapshot`)
      expect((yield* control("PUT", `/worlds/${id}/snapshot`, taken)).status).toBe(200)
    })
  )

  it.effect("does not step to an event after its end", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld()
      const { json: snapshot } = yield* control("GET", `/worlds/${world.id}/snapshot`)
      const latest = Date.parse("9899-12-31T23:59:59.999Z")
      yield* control("PUT", `/worlds/${world.id}/snapshot`, { ...snapshot, latest })
      yield* callAs(world, "GET", "/nodes/")
      const reply = yield* control("POST", `/worlds/${world.id}/clock`, { advanceTo: "next-event" })
      expect(Object.keys(errorsOf(reply, 422))).toEqual(["advanceTo"])
    })
  )

  it.effect("lists at most 100 events of nodes, and the reset of the allowance as well", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({
        clock: "frozen",
        nodes: Array.from({ length: 101 }, (_, i) => ({ name: `web-${i}`, status: "created" as const })),
        rateLimit: { limit: 20, window: 2_000, algorithm: "fixed-window" }
      })
      yield* callAs(world, "GET", "/nodes/")
      const { json } = yield* control("POST", `/worlds/${world.id}/clock`, { advanceTo: "next-event" })
      expect(json.events).toHaveLength(101)
      expect(json.events[0].kind).toBe("provisioning-ends")
      expect(json.events.at(-1)).toEqual({ kind: "allowance-resets", at: json.now })
    })
  )

  it.effect("a year on, in one call, everything is as it would be after a year", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({
        rateLimit: { limit: 20, window: 3_600_000, algorithm: "fixed-window" }
      })
      const images = yield* callAs(world, "GET", "/images/")
      const plan = images.json.data.find(({ specs }: any) =>
        specs.committed_sku?.some((sku: any) => sku.committed_days === 90)
      )
      const sku = plan.specs.committed_sku.find((one: any) => one.committed_days === 90)
      const order = (name: string) => ({ ...nodeOf(name), plan: plan.plan, image: plan.image })
      const create = (name: string, extra = {}) =>
        Effect.map(
          callAs(world, "POST", "/nodes/", { body: { ...order(name), ...extra } }),
          ({ json }): number => json.data.id
        )
      const set = (vcn_id: number, node_status: string) =>
        callAs(world, "POST", "/update_committed_node_status/", {
          body: {
            vcn_id,
            node_status,
            ...(node_status === "auto_terminate" ? {} : { committed_plan: sku.committed_sku_id })
          }
        })
      const [plain, deleted, renewing, ending] = [
        yield* create("plain"),
        yield* create("deleted"),
        yield* create("renewing"),
        yield* create("ending", { cn_id: sku.committed_sku_id })
      ]
      yield* callAs(world, "DELETE", `/nodes/${deleted}/`)
      yield* set(renewing, "auto_renew")
      yield* set(ending, "auto_terminate")
      // Spend the rest of the allowance, so that it has something to refill.
      let last = yield* callAs(world, "GET", "/nodes/")
      while (last.status === 200) last = yield* callAs(world, "GET", "/nodes/")
      expect([last.status, last.headers.get("retry-after")]).toEqual([429, "3600"])

      expect(DateTime.toEpochMillis(yield* world.advance("365 days"))).toBe(start + 365 * dayMillis)
      const list = yield* callAs(world, "GET", "/nodes/")
      expect(list.headers.get("date")).toBe("Fri, 01 Jan 2027 00:00:00 GMT")
      expect(list.headers.get("ratelimit-remaining")).toBe("19")
      expect(Number(list.headers.get("ratelimit-reset")) * 1000).toBe(start + 365 * dayMillis + 3_600_000)
      expect(list.json.data.map(({ id, status }: any) => [id, status])).toEqual([
        [plain, "running"],
        [renewing, "running"]
      ])
      for (const id of [deleted, ending]) expect(yield* statusIn(world, id)).toBe("404")
      // The renewed commitment is in its fifth term: days 360 to 450.
      expect((yield* set(renewing, "auto_terminate")).status).toBe(200)
      yield* world.advance(`${450 - 365} days`)
      expect(yield* statusIn(world, renewing)).toBe("terminate")
      expect(yield* statusIn(world, plain)).toBe("running")
    })
  )

  it.effect("steps from one event to the next, and each step is exactly there", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({
        provisioning: "10 seconds",
        termination: "5 seconds",
        rateLimit: { limit: 50, window: 60_000, algorithm: "fixed-window" }
      })
      const first = yield* createIn(world, "first")
      yield* world.advance("3 seconds")
      const second = yield* createIn(world, "second")
      const step = Effect.map(world.advanceToNextEvent, (events) =>
        events.map(({ at, kind, nodeId }) => [DateTime.toEpochMillis(at) - start, kind, nodeId])
      )
      expect(yield* step).toEqual([[10_000, "provisioning-ends", first]])
      expect([yield* statusIn(world, first), yield* statusIn(world, second)]).toEqual(["running", "created"])
      yield* callAs(world, "DELETE", `/nodes/${first}/`)
      expect(yield* step).toEqual([[13_000, "provisioning-ends", second]])
      expect(yield* step).toEqual([[15_000, "termination-ends", first]])
      expect(yield* statusIn(world, first)).toBe("404")
      expect(yield* step).toEqual([[60_000, "allowance-resets", undefined]])
      expect((yield* callAs(world, "GET", "/nodes/")).headers.get("ratelimit-remaining")).toBe("49")
      expect(yield* step).toEqual([[120_000, "allowance-resets", undefined]])
      expect(yield* step).toEqual([])
      expect(DateTime.toEpochMillis(yield* world.now)).toBe(start + 120_000)
    })
  )

  it.effect("steps through the terms of a commitment to the termination it ends in", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({ termination: "5 seconds" })
      const images = yield* callAs(world, "GET", "/images/")
      const { image, plan, specs } = images.json.data.find((one: any) => one.specs.committed_sku !== undefined)
      const sku = specs.committed_sku.find((one: any) => one.committed_days === 30)
      const created = yield* callAs(world, "POST", "/nodes/", { body: { ...nodeOf("web"), image, plan } })
      const { id } = created.json.data
      const set = (node_status: string) =>
        callAs(world, "POST", "/update_committed_node_status/", {
          body: {
            vcn_id: id,
            node_status,
            committed_plan: sku.committed_sku_id
          }
        })
      yield* set("auto_renew")
      const kinds = Effect.map(world.advanceToNextEvent, (events) => events.map(({ kind }) => kind))
      expect([yield* kinds, yield* kinds, yield* kinds, yield* kinds]).toEqual([
        ["provisioning-ends"],
        ["allowance-resets"],
        ["commitment-ends"],
        ["commitment-ends"]
      ])
      expect(yield* statusIn(world, id)).toBe("running")
      yield* set("auto_terminate")
      expect([yield* kinds, yield* kinds]).toEqual([["allowance-resets"], ["commitment-ends"]])
      expect(yield* statusIn(world, id)).toBe("terminate")
      expect(yield* kinds).toEqual(["termination-ends"])
      expect(yield* statusIn(world, id)).toBe("404")
    })
  )
})

describe("each kind of window, on a clock that is moved", () => {
  const spendAll = (algorithm: "fixed-window" | "sliding-window" | "token-bucket") =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({ rateLimit: { limit: 3, window: 90_000, algorithm } })
      const seen: Array<readonly [number, string | null, string | null]> = []
      const once = Effect.map(callAs(world, "GET", "/nodes/"), ({ headers, status }) => {
        seen.push([status, headers.get("ratelimit-remaining"), headers.get("retry-after")])
      })
      yield* once
      yield* world.advance("10 seconds")
      yield* Effect.repeat(once, { times: 2 })
      yield* world.advanceToNextEvent
      yield* once
      yield* world.advance("365 days")
      yield* once
      return seen
    }).pipe(Effect.provide(TestServer.layer()))

  it.effect("is used up, names the instant of its refill, refills then, and is full after a year", () =>
    Effect.gen(function* () {
      expect(yield* spendAll("fixed-window")).toEqual([
        [200, "2", null],
        [200, "1", null],
        [200, "0", null],
        [429, "0", "80"],
        // At the end of the window, the whole allowance is available again.
        [200, "2", null],
        [200, "2", null]
      ])
      expect(yield* spendAll("sliding-window")).toEqual([
        [200, "2", null],
        [200, "1", null],
        [200, "0", null],
        [429, "0", "80"],
        // The oldest request has left the window, the other two have not.
        [200, "0", null],
        [200, "2", null]
      ])
      expect(yield* spendAll("token-bucket")).toEqual([
        [200, "2", null],
        [200, "1", null],
        [200, "0", null],
        [429, "0", "20"],
        // The bucket is full again.
        [200, "2", null],
        [200, "2", null]
      ])
    })
  )
})
