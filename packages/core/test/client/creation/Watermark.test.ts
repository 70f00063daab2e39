import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Watermark from "../../../src/client/creation/Watermark.ts"
import { someNode as node } from "../../someNode.ts"

/** A list of nodes in pages of 100, and how many pages have been read of it. */
const listOf = (ids: Array<number>) => {
  const list = {
    ids,
    reads: 0,
    page: (number: number) =>
      Effect.gen(function* () {
        list.reads++
        yield* Effect.yieldNow
        return list.ids.slice((number - 1) * 100, number * 100).map((id) => node(id))
      })
  }
  return list
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

describe("the watermark", () => {
  it.effect("is the highest id, wherever the list ends", () =>
    Effect.gen(function* () {
      for (const count of [0, 1, 99, 100, 101, 250, 10_000]) {
        const list = listOf(upTo(count))
        assert.strictEqual(yield* Watermark.make().highest(list.page), count)
        assert.isAtMost(list.reads, 16)
      }
    })
  )

  it.effect("is read where the list ended last time, and found wherever it ends now; it never falls", () =>
    Effect.gen(function* () {
      const list = listOf(upTo(950))
      const watermark = Watermark.make()
      yield* watermark.highest(list.page)
      let highest = 0
      for (const [ids, most] of [
        [upTo(951), 1],
        [upTo(1000), 3],
        [upTo(1700), 9],
        [upTo(1650), 3],
        [upTo(30), 3],
        [[], 2]
      ] as const) {
        list.ids = [...ids]
        list.reads = 0
        highest = Math.max(highest, ids.at(-1) ?? 0)
        assert.strictEqual(yield* watermark.highest(list.page), highest)
        assert.isAtMost(list.reads, most)
      }
    })
  )

  it.effect("is right in any order of the list", () =>
    Effect.gen(function* () {
      const list = listOf(upTo(430).toReversed())
      const watermark = Watermark.make()
      assert.strictEqual(yield* watermark.highest(list.page), 430)
      const above = yield* watermark.above(list.page, 425)
      assert.sameMembers(
        above.map(({ id }) => Number(id)),
        [426, 427, 428, 429, 430]
      )
    })
  )

  it.effect("is never older than the question, and one reading answers all that ask meanwhile", () =>
    Effect.gen(function* () {
      const list = listOf([7])
      const watermark = Watermark.make()
      const first = yield* Effect.forkChild(watermark.highest(list.page))
      yield* Effect.yieldNow
      list.ids = [7, 8]
      const later = yield* Effect.all(
        Array.from({ length: 20 }, () => watermark.highest(list.page)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        later,
        later.map(() => 8)
      )
      assert.isAtMost(list.reads, 4)
      list.ids = [7, 8, 9]
      assert.strictEqual(yield* watermark.highest(list.page), 9)
      yield* Fiber.join(first)
    })
  )

  it.effect("gives the nodes above it across pages", () =>
    Effect.gen(function* () {
      const list = listOf(upTo(350))
      const above = yield* Watermark.make().above(list.page, 180)
      assert.deepStrictEqual(
        above.map(({ id }) => Number(id)),
        upTo(350).slice(180)
      )
    })
  )
})
