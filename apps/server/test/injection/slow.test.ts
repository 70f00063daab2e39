import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { kindByName } from "../../src/injection/catalogue.ts"
import type { Firing } from "../../src/injection/FaultKind.ts"
import * as World from "../../src/world/World.ts"
import { defaults } from "../../src/world/WorldSettings.ts"
import { derive } from "../../src/lifecycle/seed.ts"
import { TestServer, type TestWorld } from "../../src/testing.ts"
import { requestAs } from "../http/service.ts"
import { countNodes, create, list } from "./client.ts"

/** Waits until the world has that many requests in its journal, because the server works in real time and a test in virtual time. */
const untilRecorded = (world: TestWorld, count: number): Effect.Effect<void> =>
  Effect.flatMap(world.journal, ({ length }) => (length >= count ? Effect.void : untilRecorded(world, count)))

/** The pieces of a list in the order in which they arrive. */
const pieces = (world: TestWorld) =>
  Effect.map(
    Effect.promise((signal) => {
      const [url, init] = requestAs(world, "GET", "/nodes/")
      return fetch(url, { ...init, signal })
    }),
    (response) => {
      const reader = response.body!.getReader()
      return Effect.promise(async () => (await reader.read()).value?.length)
    }
  )

describe("faults that take time take that of the server's Clock, not the world's", () => {
  it.effect("latency: the request is processed at once, the reply comes late, though the world is frozen", () =>
    Effect.gen(function* () {
      const world = yield* TestServer
      yield* world.arm([{ fault: "latency", delay: "3 seconds" }])
      const reply = yield* Effect.forkChild(create(world))
      yield* untilRecorded(world, 1)
      expect(yield* countNodes(world)).toBe(1)
      yield* TestClock.adjust("2999 millis")
      // This request goes to the server and back, so a reply that was sent too early would have arrived by now.
      yield* countNodes(world)
      expect(reply.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("1 millis")
      expect((yield* Fiber.join(reply)).status).toBe(202)
      expect((yield* world.journal).map(({ durationMillis, faults }) => [durationMillis, faults])).toEqual([
        [0, ["latency"]]
      ])
      yield* world.arm([])
      expect((yield* create(world)).status).toBe(202)
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.effect("slow-body: one piece, then a pause, then the next", () =>
    Effect.gen(function* () {
      const world = yield* TestServer
      const whole = (yield* list(world)).text.length
      yield* world.arm([{ fault: "slow-body", pause: "1 minute" }])
      const next = yield* pieces(world)
      const lengths = [yield* next]
      for (let minute = 1; minute < 10; minute++) {
        const piece = yield* Effect.forkChild(next)
        yield* countNodes(world)
        expect(piece.pollUnsafe()).toBeUndefined()
        yield* TestClock.adjust("1 minute")
        lengths.push(yield* Fiber.join(piece))
      }
      expect(yield* next).toBeUndefined()
      expect(lengths[0]).toBe(Math.ceil(whole / 10))
      expect(lengths.reduce<number>((sum, length) => sum + length!, 0)).toBe(whole)
      yield* world.arm([])
      expect(yield* yield* pieces(world)).toBe(whole)
    }).pipe(Effect.provide(TestServer.layer({ scenario: "small" })))
  )

  it.effect("hang: no reply ever comes; an option decides whether the request is processed", () =>
    Effect.gen(function* () {
      const world = yield* TestServer
      for (const [processed, made] of [
        [false, 0],
        [true, 1]
      ] as const) {
        yield* world.arm([{ fault: "hang", processed }])
        const reply = yield* Effect.forkChild(create(world))
        yield* untilRecorded(world, made + 1)
        yield* TestClock.adjust("1 day")
        expect(yield* countNodes(world)).toBe(made)
        expect(reply.pollUnsafe()).toBeUndefined()
        yield* Fiber.interrupt(reply)
      }
      expect((yield* world.journal).map(({ status }) => status)).toEqual([null, 202])
      yield* world.arm([])
      expect((yield* create(world)).status).toBe(202)
    }).pipe(Effect.provide(TestServer.layer()))
  )
})

describe("how late a reply is", () => {
  const occasion = {
    request: HttpServerRequest.fromWeb(new Request("http://berth.test/")),
    world: World.make(defaults, 0)
  }
  const delayOf = (firing: Firing) => kindByName.get("latency")!.steps(firing, occasion).delayMillis!()
  const delays = (fault: object) =>
    Array.from({ length: 2_000 }, (_, index) =>
      delayOf({ fault: { fault: "latency", ...fault }, seen: 1, chance: (label) => derive(1, index, label) })
    )

  it("fixed: always the same", () => {
    expect(new Set(delays({ delay: "250 millis" }))).toEqual(new Set([250]))
  })

  it("uniform: evenly between the two", () => {
    const given = delays({ distribution: "uniform", delay: "100 millis", upTo: "300 millis" })
    expect([Math.min(...given) >= 100, Math.max(...given) <= 300]).toEqual([true, true])
    const mean = given.reduce((sum, ms) => sum + ms, 0) / given.length
    expect(Math.abs(mean - 200)).toBeLessThan(5)
  })

  it("lognormal: half of them below the median, a long tail, never above the most", () => {
    const given = delays({ distribution: "lognormal", delay: "100 millis", sigma: 1, upTo: "2 seconds" }).sort(
      (a, b) => a - b
    )
    expect(Math.abs(given[1_000]! - 100)).toBeLessThan(10)
    // One standard deviation above the median, the delay is e times as long.
    expect(Math.abs(given[1_683]! / 100 - Math.E)).toBeLessThan(0.3)
    expect(given.at(-1)).toBeLessThanOrEqual(2_000)
  })
})
