/** Three daemons on one store, in thousands of histories, each determined by its number. `SEED=N pnpm soak` begins with history N. */
import { isSoak, seed as firstSeed } from "@berthkit/testing/chance"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Tables } from "./Tables.ts"
import { livedThrough } from "./history.ts"

const histories = isSoak ? 100 * Number(process.env["RUNS"]) : 200

/** This many histories must be enough to notice a missing protection. */
const enough = 100

const seeds = Array.from({ length: histories }, (_, index) => firstSeed + index)

describe("three daemons on one store", () => {
  it.effect("lose nothing and report nothing twice, whatever happens to them", () =>
    Effect.gen(function* () {
      const tables = yield* Tables.make
      for (const seed of seeds) {
        const { problems, taken } = livedThrough(tables, { seed })
        expect({ seed, problems }).toEqual({ seed, problems: [] })
        expect(taken.length).toBeGreaterThan(0)
      }
    })
  )

  it.effect("do the same in the same history", () =>
    Effect.gen(function* () {
      const tables = yield* Tables.make
      const [seed] = seeds
      const first = livedThrough(tables, { seed: seed! })
      const other = livedThrough(tables, { seed: seed! + 1 })
      expect(livedThrough(tables, { seed: seed! })).toEqual(first)
      expect(other).not.toEqual(first)
    })
  )

  for (const without of ["commits", "deliveries"] as const) {
    it.effect(`are seen to need the fence of ${without}`, () =>
      Effect.gen(function* () {
        const tables = yield* Tables.make
        const isSeen = seeds
          .slice(0, enough)
          .some((seed) => livedThrough(tables, { seed, without }).problems.length > 0)
        expect(isSeen).toBe(true)
      })
    )
  }
})
