import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Result } from "effect"
import * as fc from "fast-check"
import { highestId, make, nodesAbove } from "../../../src/client/creation/Watermark.ts"
import { someNode as node } from "../../someNode.ts"

/** A page with nodes of these ids, which does not state how many nodes there are. */
const pageOf = (ids: ReadonlyArray<number>) => ({ nodes: ids.map((id) => node(id)), pages: null, total: null })

/** A page that is a 404. */
const missing = { ...pageOf([]), isMissing: true as const }

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

/** A list in pages of `size`; `meanwhile` changes it before each page. Also returns which pages were requested. */
const listOf = (ids: Array<number>, meanwhile: (asked: number) => void = () => {}, size = 100) => {
  const asked: Array<number> = []
  const readPage = (page: number) =>
    Effect.sync(() => {
      meanwhile(asked.push(page))
      return pageOf(ids.slice((page - 1) * size, page * size))
    })
  return { asked, readPage }
}

const idsOf = ({ nodes }: { readonly nodes: ReadonlyArray<{ readonly id: number }> }) =>
  nodes.map(({ id }) => id).toSorted((a, b) => a - b)

describe("the highest id", () => {
  for (const [count, page] of [
    [0, 1],
    [1, 1],
    [100, 1],
    [101, 2],
    [250, 3],
    [10_000, 100]
  ] as const) {
    it.effect(`of ${count} nodes is on page ${page}, found in few requests`, () =>
      Effect.gen(function* () {
        const { asked, readPage } = listOf(upTo(count))
        const { end, id } = yield* highestId(readPage, undefined)
        assert.deepStrictEqual([id, end?.page], [count, page])
        assert.isAtMost(asked.length, 2 + 2 * Math.ceil(Math.log2(page + 1)))
      })
    )
  }

  it.effect("is found in one request where it was last time", () =>
    Effect.gen(function* () {
      const { asked, readPage } = listOf(upTo(9950))
      assert.strictEqual((yield* highestId(readPage, { page: 100, length: 49, full: 100, isStated: false })).id, 9950)
      assert.strictEqual(asked.length, 1)
    })
  )

  it.effect("is found though it is far before where it was last time", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        (yield* highestId(listOf(upTo(250)).readPage, { page: 1000, length: 7, full: 100, isStated: false })).id,
        250
      )
    })
  )

  for (const [name, ids] of [
    ["newest first", upTo(350).toReversed()],
    ["shuffled", upTo(350).toSorted((a, b) => ((a * 7919) % 997) - ((b * 7919) % 997))]
  ] as const) {
    it.effect(`of a list that is ${name} is found by reading all of it`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* highestId(listOf([...ids]).readPage, undefined)).id, 350)
        assert.deepStrictEqual(
          idsOf(yield* nodesAbove(listOf([...ids]).readPage, 340, undefined)),
          upTo(350).slice(340)
        )
      })
    )
  }

  for (const count of [1, 20, 100, 150]) {
    it.effect(`of a service that gives one page of ${count} whatever is asked for is known if its totals say so`, () =>
      Effect.gen(function* () {
        const readPage = () => Effect.succeed({ ...pageOf(upTo(count)), pages: 1, total: count })
        assert.strictEqual((yield* highestId(readPage, undefined)).id, count)
      })
    )
  }

  for (const count of [1, 20, 99, 103]) {
    it.effect(`of a service that gives one page of ${count} whatever is asked for is known: none is cut there`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* highestId(() => Effect.succeed(pageOf(upTo(count))), undefined)).id, count)
      })
    )
  }

  it.effect("of a service that repeats its last page is known without totals", () =>
    Effect.gen(function* () {
      const { readPage } = listOf(upTo(50).toReversed(), undefined, 20)
      assert.strictEqual((yield* highestId((page) => readPage(Math.min(page, 3)), undefined)).id, 50)
    })
  )

  for (const [totals, paging] of [
    [{ pages: 3, total: null }, "ignored"],
    [{ pages: 3, total: 20 }, "ignored"],
    [{ pages: 3, total: 46 }, "ignored"],
    [{ pages: 3, total: null }, "ending"],
    [{ pages: 3, total: 46 }, "ending"]
  ] as const) {
    for (const ids of [upTo(20), upTo(20).toReversed()]) {
      const what = `of one page from ${ids[0]} with ${JSON.stringify(totals)}, paging ${paging}`
      it.effect(`${what}, is not known: the list may be cut there`, () =>
        Effect.gen(function* () {
          const readPage = (page: number) =>
            Effect.succeed({ ...pageOf(paging === "ignored" || page === 1 ? ids : []), ...totals })
          for (const read of [
            Effect.asVoid(highestId(readPage, undefined)),
            Effect.asVoid(nodesAbove(readPage, 20, undefined))
          ]) {
            const { reason } = yield* Effect.flip(read)
            assert.strictEqual(reason._tag, "UnexpectedResponse")
          }
        })
      )
    }
  }

  for (const ids of [upTo(100), upTo(100).toReversed()]) {
    it.effect(`of one full page from ${ids[0]}, given whatever is asked for, is not known: it may be cut there`, () =>
      Effect.gen(function* () {
        const readPage = () => Effect.succeed(pageOf(ids))
        for (const read of [
          Effect.asVoid(highestId(readPage, undefined)),
          Effect.asVoid(nodesAbove(readPage, 100, undefined))
        ]) {
          const { reason } = yield* Effect.flip(read)
          assert.strictEqual(reason._tag, "UnexpectedResponse")
        }
      })
    )
  }
})

describe("the nodes above an id", () => {
  for (const newerThan of [0, 95, 100, 250, 299, 300]) {
    it.effect(`${newerThan} are all of them, over the borders of pages`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          idsOf(yield* nodesAbove(listOf(upTo(300)).readPage, newerThan, undefined)),
          upTo(300).slice(newerThan)
        )
      })
    )
  }

  it.effect("are not lost or given twice where nodes before them are deleted between pages", () =>
    Effect.gen(function* () {
      const ends = [
        undefined,
        { page: 5, length: 50, full: 100, isStated: false },
        { page: 3, length: 100, full: 100, isStated: false }
      ]
      for (const [known, moment] of ends.flatMap((known) => upTo(8).map((moment) => [known, moment] as const))) {
        const ids = upTo(450)
        // Half a page is deleted at once, so all later nodes move forward across the borders of pages.
        const { readPage } = listOf(ids, (asked) => asked === moment && ids.splice(0, 50))
        const found = idsOf(yield* nodesAbove(readPage, 180, known))
        assert.deepStrictEqual(found, upTo(450).slice(180), `deleted before request ${moment}`)
      }
    })
  )
})

describe("whether the list of the nodes above an id is whole", () => {
  const same = { pages: null, total: null }
  for (const [what, isWhole, totals, pages] of [
    ["one page for every page, without totals", false, same, "same"],
    ["one page for every page, with its number as the only total", false, { ...same, total: 3 }, "same"],
    ["one page for every page, with totals of that page", true, { pages: 1, total: 3 }, "same"],
    ["a page and then none", true, same, "ending"],
    ["a page and then a 404, without totals", false, same, "missing"],
    ["a page and then a 404, with its number as the only total", false, { ...same, total: 3 }, "missing"],
    ["a page and then a 404, with totals of that page", true, { pages: 1, total: 3 }, "missing"]
  ] as const) {
    for (const ids of [upTo(3), upTo(3).toReversed()]) {
      it.effect(`is ${isWhole} for ${what}, from ${ids[0]}`, () =>
        Effect.gen(function* () {
          const readPage = (page: number) =>
            Effect.succeed(
              pages === "missing" && page > 1
                ? missing
                : { ...pageOf(pages === "same" || page === 1 ? ids : []), ...totals }
            )
          assert.strictEqual((yield* nodesAbove(readPage, 3, undefined)).isWhole, isWhole)
          const watermark = make()
          yield* watermark.highest(readPage)
          for (let again = 0; again < 2; again++) {
            assert.strictEqual((yield* watermark.above(readPage, 3)).isWhole, isWhole)
          }
        })
      )
    }
  }

  for (const [count, isProved] of [
    [0, true],
    [19, false],
    [20, false],
    [25, true],
    [40, false],
    [55, true]
  ] as const) {
    for (const ids of [upTo(count), upTo(count).toReversed()]) {
      // Only in a list sorted by id does a later page that is shorter prove the end.
      const isWhole = isProved && (ids[0] ?? 1) === 1
      it.effect(`is ${isWhole} for ${count} nodes in pages of 20 and then a 404, from ${ids[0]}`, () =>
        Effect.gen(function* () {
          const readPage = (page: number) =>
            Effect.succeed(
              page > Math.max(1, count / 20) && (page - 1) * 20 >= count
                ? missing
                : pageOf(ids.slice((page - 1) * 20, page * 20))
            )
          const watermark = make()
          for (let again = 0; again < 3; again++) {
            assert.strictEqual((yield* watermark.above(readPage, 0)).isWhole, isWhole)
          }
          const total = (page: number) =>
            Effect.map(readPage(page), (read) =>
              read === missing ? read : { ...read, pages: Math.max(1, Math.ceil(count / 20)), total: count }
            )
          assert.isTrue((yield* nodesAbove(total, 0, undefined)).isWhole)
        })
      )
    }
  }
})

/** The changes to the nodes before a request: which nodes are deleted, by their place, and how many are created. */
const change = fc.record({
  at: fc.nat({ max: 14 }),
  deletions: fc.array(fc.oneof(fc.nat(), fc.constant(0)), { maxLength: 30 }),
  creations: fc.nat({ max: 2 })
})

/** How a service may list its nodes, and what happens while a client reads the list several times. */
const history = fc.record({
  count: fc.oneof(fc.nat({ max: 30 }), fc.nat({ max: 110 })),
  size: fc.constantFrom(20, 25, 100),
  order: fc.constantFrom("oldest first", "newest first", "by name"),
  paging: fc.constantFrom("followed", "repeated", "followed, then 404", "cut, then 404"),
  totals: fc.constantFrom("none", "of the list", "of the page"),
  readings: fc.array(fc.array(change, { maxLength: 5 }), { minLength: 1, maxLength: 4 }),
  back: fc.nat({ max: 10 })
})

describe("a list that changes while it is read", () => {
  const places = {
    "oldest first": (id: number) => id,
    "newest first": (id: number) => -id,
    "by name": (id: number) => (id * 7919) % 997
  }

  it("lacks no node if it is called whole, in any order and paging, and takes few requests", () =>
    fc.assert(
      fc.asyncProperty(history, async ({ back, count, order, paging, readings, size, totals }) => {
        const ids = upTo(count)
        let highest = count
        const placeOf = places[order]
        const watermark = make()
        for (const changes of readings) {
          const throughout = new Set(ids)
          const newerThan = Math.max(0, highest - back)
          let requests = 0
          const happen = () => {
            for (const { creations, deletions } of changes.filter(({ at }) => at === requests)) {
              for (const pick of deletions)
                for (const id of ids.splice(pick % (ids.length || 1), 1)) throughout.delete(id)
              for (let i = 0; i < creations; i++) ids.push(++highest)
            }
            requests++
          }
          const readPage = (page: number) =>
            Effect.sync(() => {
              happen()
              const start = paging.startsWith("followed") ? (page - 1) * size : 0
              const shown = ids.toSorted((a, b) => placeOf(a) - placeOf(b)).slice(start, start + size)
              const stated = {
                none: {},
                "of the list": { pages: Math.max(1, Math.ceil(ids.length / size)), total: ids.length },
                "of the page": { total: shown.length }
              }
              if (paging.endsWith("404") && page > 1 && (shown.length === 0 || paging.startsWith("cut"))) return missing
              return { ...pageOf(shown), ...stated[totals] }
            })
          const read = await Effect.runPromise(Effect.result(watermark.above(readPage, newerThan)))
          assert.isAtMost(requests, 3 * Math.ceil(highest / size) + 14)
          if (Result.isFailure(read) || !read.success.isWhole) continue
          const found = new Set(idsOf(read.success))
          assert.deepStrictEqual(
            Array.from(throughout).filter((id) => id > newerThan && !found.has(id)),
            []
          )
        }
      }),
      { numRuns: 200 }
    ))

  for (const order of ["oldest first", "newest first", "by name"] as const) {
    it.effect(`is not called whole if a node has moved to a page that was read before, ${order}`, () =>
      Effect.gen(function* () {
        for (const moment of upTo(4)) {
          const ids = upTo(21).toSorted((a, b) => places[order](a) - places[order](b))
          const last = ids.at(-1)!
          const { readPage } = listOf(ids, (asked) => asked === moment && ids.splice(0, 1), 20)
          const above = yield* nodesAbove(readPage, 0, undefined)
          if (above.isWhole) assert.include(idsOf(above), last, `deleted before request ${moment}`)
        }
      })
    )
  }

  it.effect("takes few requests if each page is the same and a node that it shows is deleted", () =>
    Effect.gen(function* () {
      for (const moment of upTo(6)) {
        const ids = upTo(150)
        const { asked, readPage } = listOf(ids, (asked) => asked === moment && ids.splice(0, 1), 20)
        const { isWhole } = yield* nodesAbove(() => readPage(1), 0, undefined)
        assert.isFalse(isWhole)
        assert.isAtMost(asked.length, 8)
      }
    })
  )
})

describe("the nodes above one", () => {
  it.effect("are found where pages have become shorter since the list was read last", () =>
    Effect.gen(function* () {
      // The 80 nodes came on one page before, and come on four now.
      const readPage = (page: number) => Effect.succeed(pageOf(upTo(81).slice((page - 1) * 20, page * 20)))
      const known = { page: 1, length: 80, full: 100, isStated: false }
      assert.strictEqual((yield* highestId(readPage, known)).id, 81)
      assert.deepStrictEqual(idsOf(yield* nodesAbove(readPage, 80, known)), [81])
    })
  )

  for (const [order, ids] of [
    ["by id", [1001, 999_999]],
    ["oldest first", [999_999, 1001]]
  ] as const) {
    it.effect(`are all there are where a newer node has a lower id, listed ${order}`, () =>
      Effect.gen(function* () {
        const bornAt = (id: number) => DateTime.makeUnsafe(id === 1001 ? 60_000 : 0)
        const readPage = (page: number) =>
          Effect.succeed({
            nodes: page === 1 ? ids.map((id) => ({ ...node(id), createdAt: bornAt(id) })) : [],
            pages: null,
            total: null
          })
        assert.sameMembers(idsOf(yield* nodesAbove(readPage, 999_999, undefined)), [1001, 999_999])
      })
    )
  }
})

describe("a list without an end", () => {
  for (const [name, most, idsOn] of [
    ["new nodes for ever", 20, (page: number) => upTo(100).map((id) => id + page * 100)],
    ["one new node a page", 20, (page: number) => [page]],
    ["new nodes for ever, the newest first", 12, (page: number) => upTo(10_000).map((id) => 1e9 - id - page * 10_000)],
    ["one new node a page, the newest first", 762, (page: number) => [1e9 - page]]
  ] as const) {
    it.effect(`of a service that gives ${name} is not read for ever`, () =>
      Effect.gen(function* () {
        let asked = 0
        const like = node(1)
        const readPage = (page: number) =>
          Effect.sync(() => {
            asked++
            return {
              nodes: idsOn(page).map((id) => Object.assign(Object.create(like), { id })),
              pages: null,
              total: null
            }
          })
        const { reason } = yield* Effect.flip(Effect.asVoid(highestId(readPage, undefined)))
        assert.strictEqual(reason._tag, "UnexpectedResponse")
        assert.match(reason.message, /expected the end of the list within 50000 nodes/)
        assert.isAtMost(asked, most)
      })
    )
  }

  it("is not read for ever, whatever the service gives for whichever request", () =>
    fc.assert(
      fc.asyncProperty(
        fc.func(fc.array(fc.integer({ min: 1, max: 1000 }), { maxLength: 5 })),
        fc.boolean(),
        fc.option(
          fc.record({
            page: fc.integer({ min: 1, max: 300 }),
            length: fc.integer({ min: 1, max: 100 }),
            full: fc.integer({ min: 1, max: 100 }),
            isStated: fc.boolean()
          })
        ),
        async (give, sorted, known) => {
          for (const newerThan of [0, 500]) {
            let asked = 0
            const readPage = (page: number) =>
              Effect.sync(() => {
                const ids = give(page, asked++)
                return pageOf(sorted ? ids.toSorted((a, b) => a - b) : ids)
              })
            await Effect.runPromise(Effect.result(nodesAbove(readPage, newerThan, known ?? undefined)))
            assert.isAtMost(asked, 21_002)
          }
        }
      ),
      { numRuns: 50 }
    ))
})

/** A list in pages of 100 that others may read at the same time; also returns how many of its pages have been read. */
const slowListOf = (ids: Array<number>) => {
  const list = {
    ids,
    reads: 0,
    page: (number: number) =>
      Effect.gen(function* () {
        list.reads++
        yield* Effect.yieldNow
        return pageOf(list.ids.slice((number - 1) * 100, number * 100))
      })
  }
  return list
}

describe("the watermark", () => {
  it.effect("is the highest id, wherever the list ends", () =>
    Effect.gen(function* () {
      for (const count of [0, 1, 99, 100, 101, 250, 10_000]) {
        const list = slowListOf(upTo(count))
        assert.strictEqual(yield* make().highest(list.page), count)
        assert.isAtMost(list.reads, 16)
      }
    })
  )

  it.effect("is read where the list ended last time, and found wherever it ends now; it never falls", () =>
    Effect.gen(function* () {
      const list = slowListOf(upTo(950))
      const watermark = make()
      yield* watermark.highest(list.page)
      let highest = 0
      for (const [ids, most] of [
        [upTo(951), 1],
        [upTo(1000), 3],
        [upTo(1700), 10],
        [upTo(1650), 3],
        [upTo(30), 4],
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
      const list = slowListOf(upTo(430).toReversed())
      const watermark = make()
      assert.strictEqual(yield* watermark.highest(list.page), 430)
      const { nodes: above } = yield* watermark.above(list.page, 425)
      assert.sameMembers(
        above.map(({ id }) => Number(id)),
        [426, 427, 428, 429, 430]
      )
    })
  )

  it.effect("is never older than the question, and one reading answers all that ask meanwhile", () =>
    Effect.gen(function* () {
      const list = slowListOf([7])
      const watermark = make()
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
      const list = slowListOf(upTo(350))
      const { nodes: above } = yield* make().above(list.page, 180)
      assert.deepStrictEqual(
        above.map(({ id }) => Number(id)),
        upTo(350).slice(180)
      )
    })
  )
})
