/**
 * Several processes with the same keys and one folder of intents, one of them killed.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import type { Program } from "@berth/testing/Program"
import { TestServer } from "@berth/server/testing"
import { countAll, makersIn, plenty } from "./makers.ts"

/** What a maker printed for each of its keys. */
const outcomes = (maker: Program) =>
  Effect.promise(async () => {
    const output = await maker.succeeded()
    return output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly key: number; readonly outcome: string; readonly id: number })
  })

describe("eight processes with the same hundred keys, after one that was killed in the middle", () => {
  for (const attempt of ["once", "again", "a third time"]) {
    it.live(`make a hundred nodes, and all name the same one for each key: ${attempt}`, () =>
      Effect.gen(function* () {
        const server = yield* TestServer
        const world = yield* server.makeWorld({ clock: "real", rateLimit: plenty })
        const start = yield* makersIn(world, 100)
        const first = yield* start
        yield* Effect.repeat(countAll(world), {
          until: (count) => count >= 50,
          schedule: Schedule.spaced("10 millis")
        })
        yield* Effect.promise(() => first.kill())
        const lines = yield* Effect.forEach(
          Array.from({ length: 8 }, () => start),
          Effect.flatMap(outcomes),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(yield* countAll(world), 100)
        const idsOf = new Map<number, Set<number>>()
        for (const { id, key } of lines.flat()) idsOf.set(key, (idsOf.get(key) ?? new Set()).add(id))
        assert.deepStrictEqual(
          Array.from(idsOf.values(), ({ size }) => size),
          Array.from({ length: 100 }, () => 1)
        )
        assert.strictEqual(new Set(lines.flat().map(({ id }) => id)).size, 100)
      }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
    )
  }
})
