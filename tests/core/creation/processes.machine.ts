/** Several processes with the same keys and one folder of intents. One of the processes is killed. */
import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Program } from "@berthkit/testing/Program"
import { TestServer } from "@berthkit/server/testing"
import { inDialect } from "../../account.ts"
import { countAll, killAfter, makersIn, plenty } from "./makers.ts"

/** The lines that a maker prints, one for each of its keys. */
const outcomes = (maker: Program) =>
  Effect.promise(async () => {
    const output = await maker.succeeded()
    return output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly key: number; readonly outcome: string; readonly id: number })
  })

const [attempts, processes, keys] = isSoak ? [["once", "again", "a third time"], 8, 100] : [["once"], 3, 20]

describe("processes with the same keys, after one that was killed in the middle", () => {
  for (const attempt of attempts) {
    it.live(`make one node for each key, and all name the same: ${attempt}`, () =>
      Effect.gen(function* () {
        const server = yield* TestServer
        const world = yield* server.makeWorld(inDialect({ clock: "real", rateLimit: plenty }))
        const start = yield* makersIn(world, keys)
        yield* killAfter(world, start, keys / 2)
        const lines = yield* Effect.forEach(
          Array.from({ length: processes }, () => start),
          Effect.flatMap(outcomes),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(yield* countAll(world), keys)
        const idsOf = new Map<number, Set<number>>()
        for (const { id, key } of lines.flat()) idsOf.set(key, (idsOf.get(key) ?? new Set()).add(id))
        assert.deepStrictEqual(
          Array.from(idsOf.values(), ({ size }) => size),
          Array.from({ length: keys }, () => 1)
        )
        assert.strictEqual(new Set(lines.flat().map(({ id }) => id)).size, keys)
      }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
    )
  }
})
