import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { isPageMemory, type PageRecord } from "../../../src/client/listing/PageMemory.ts"
import { makeMemory, type PageStore } from "../../../src/client/listing/PageStore.ts"
import type { PageRange } from "../../../src/client/listing/PageRange.ts"
import { capped, readList, upTo } from "./readList.ts"

/** A memory of pages of 100, the size of every first page. */
const recordIn = (store: PageStore): PageRecord | undefined => Effect.runSync(store.load)["100"]

const storeWith = (record: PageRecord): PageStore => {
  const store = makeMemory()
  Effect.runSync(store.save({ 100: record }))
  return store
}

/** How many requests a list of each of these sizes takes, one after the other, and its `complete`. */
const costs = (sizes: ReadonlyArray<number>, exact: boolean, cap = 100) => {
  const store = makeMemory()
  return Effect.runPromise(
    Effect.forEach(sizes, (size) =>
      Effect.map(readList(capped(upTo(size), cap), store, { exact }), ({ complete, ids, requests }) => {
        assert.lengthOf(ids, size)
        return [requests, complete] as const
      })
    )
  )
}

describe("a list of an account of one page", () => {
  it("takes one request where a longer page came before, and is complete", async () => {
    assert.deepStrictEqual(await costs([150, 99, 7, 1, 0], true), [
      [2, true],
      [1, true],
      [1, true],
      [1, true],
      [1, true]
    ])
  })

  it("checks again where the page is as long as the longest one, or longer", async () => {
    assert.deepStrictEqual(await costs([7, 7, 8, 7], true), [
      [2, true],
      [2, true],
      [2, true],
      [1, true]
    ])
    assert.deepStrictEqual(await costs([100, 100], true), [
      [2, true],
      [2, true]
    ])
  })

  it("takes one request when inexact where a list ended after such a page before, and is not called complete", async () => {
    assert.deepStrictEqual(await costs([7, 7, 7], false), [
      [2, true],
      [1, "assumed"],
      [1, "assumed"]
    ])
    assert.deepStrictEqual(await costs([0, 0], false), [
      [2, true],
      [1, "assumed"]
    ])
    // Other pages follow a full one.
    assert.deepStrictEqual(await costs([100, 100], false), [
      [2, "assumed"],
      [2, "assumed"]
    ])
  })

  for (const [exact, sizes] of [
    [true, [150, ...Array.from({ length: 20 }, () => 40)]],
    [false, Array.from({ length: 21 }, () => 40)]
  ] as const) {
    it(`checks with every tenth list (exact: ${exact})`, async () => {
      const requests = (await costs(sizes, exact)).map(([each]) => each)
      const nine = Array.from({ length: 9 }, () => 1)
      assert.deepStrictEqual(requests, [2, ...nine, 2, ...nine, 2])
    })
  }

  it("checks where the memory cannot be counted down", async () => {
    const kept = storeWith({ longest: 100, upTo: 99, listsLeft: 5 })
    const unwritable: PageStore = { load: kept.load, save: () => Effect.succeed(false) }
    const { ids, requests } = await Effect.runPromise(readList(capped(upTo(40), 20), unwritable))
    assert.deepStrictEqual(ids, upTo(40))
    assert.isAbove(requests, 1)
  })

  it("of a service in another order than that of ids never counts as whole by its first page", async () => {
    const store = makeMemory()
    const newestFirst = (count: number) => capped(upTo(count).toReversed(), 100)
    for (const count of [150, 40, 40]) {
      assert.isAbove((await Effect.runPromise(readList(newestFirst(count), store))).requests, 1)
    }
  })
})

describe("a list of 10 000 nodes", () => {
  it("takes 114 requests exact, and 101 otherwise", async () => {
    assert.deepStrictEqual(await costs([10_000, 10_000], true), [
      [114, true],
      [114, true]
    ])
    assert.deepStrictEqual(await costs([10_000, 10_000], false), [
      [101, "assumed"],
      [101, "assumed"]
    ])
  })
})

/** The changes to the nodes of an account between two requests. */
const change = fc.record({
  deletions: fc.array(fc.nat(), { maxLength: 40 }),
  creations: fc.nat({ max: 5 })
})

interface Account {
  readonly ids: Array<number>
  highest: number
}

const happen = (
  { creations, deletions }: { creations: number; deletions: ReadonlyArray<number> },
  account: Account
) => {
  const gone = deletions.flatMap((pick) =>
    account.ids.length === 0 ? [] : account.ids.splice(pick % account.ids.length, 1)
  )
  for (let i = 0; i < creations; i++) account.ids.push(++account.highest)
  return gone
}

/** Any memory that is true for a service whose pages have at most `cap` nodes. */
const trueOf = (cap: number): fc.Arbitrary<PageRecord> =>
  fc.nat({ max: cap }).chain((longest) =>
    fc.record({
      longest: fc.constant(longest),
      upTo: fc.nat({ max: longest }),
      listsLeft: fc.nat({ max: 9 })
    })
  )

const cap = fc.integer({ min: 20, max: 100 })

describe("exact lists", () => {
  it("miss nothing, for any creates and deletes, with any true memory", () =>
    fc.assert(
      fc.asyncProperty(
        cap.chain((cap) => fc.tuple(fc.constant(cap), trueOf(cap))),
        fc.nat({ max: 300 }),
        fc.array(fc.array(change, { maxLength: 8 }), { minLength: 1, maxLength: 6 }),
        async ([cap, record], count, lists) => {
          const store = storeWith(record)
          const account: Account = { ids: upTo(count), highest: count }
          for (const changes of lists) {
            const throughout = new Set(account.ids)
            let turn = 0
            const { complete, ids } = await Effect.runPromise(
              readList((range) => {
                for (const id of happen(changes[turn++] ?? { creations: 0, deletions: [] }, account))
                  throughout.delete(id)
                return capped(account.ids, cap)(range)
              }, store)
            )
            const given = new Set(ids)
            assert.strictEqual(given.size, ids.length, "none twice")
            assert.deepStrictEqual(
              Array.from(throughout).filter((id) => !given.has(id)),
              []
            )
            assert.isBoolean(complete)
            assert.isAtMost(recordIn(store)?.longest ?? 0, cap, "the memory stays true")
          }
        }
      ),
      { numRuns: 40 }
    ))

  it("miss nothing where the service returns fewer nodes for some page sizes than for others", () =>
    fc.assert(
      fc.asyncProperty(
        cap,
        fc.func(fc.integer({ min: 2, max: 100 })),
        fc.array(fc.nat({ max: 300 }), { minLength: 1, maxLength: 6 }),
        async (cap, capOf, sizes) => {
          const store = makeMemory()
          for (const size of sizes) {
            const { ids } = await Effect.runPromise(readList(capped(upTo(size), cap, capOf), store))
            assert.deepStrictEqual(ids, upTo(size))
          }
        }
      ),
      { numRuns: 40 }
    ))

  it("miss something at most nine times where the service changes to shorter pages", () =>
    fc.assert(
      fc.asyncProperty(
        cap,
        fc.integer({ min: 2, max: 99 }),
        fc.array(fc.nat({ max: 150 }), { maxLength: 5 }),
        fc.array(fc.nat({ max: 150 }), { minLength: 12, maxLength: 40 }),
        async (cap, later, before, after) => {
          const fallen = Math.min(cap, later)
          const store = makeMemory()
          for (const size of before) await Effect.runPromise(readList(capped(upTo(size), cap), store))
          let wrong = 0
          for (const size of after) {
            // An account of exactly one new page shows no difference when pages get shorter.
            if (size === fallen) continue
            const { ids } = await Effect.runPromise(readList(capped(upTo(size), fallen), store))
            if (ids.length < size) wrong++
          }
          assert.isAtMost(wrong, 9)
        }
      ),
      { numRuns: 40 }
    ))

  it("miss nothing once the shorter pages are detected", async () => {
    const store = storeWith({ longest: 100, upTo: 99, listsLeft: 0 })
    for (const size of [45, 20, 45, 19, 20, 45]) {
      const { ids } = await Effect.runPromise(readList(capped(upTo(size), 20), store))
      assert.deepStrictEqual(ids, upTo(size))
    }
  })

  it("miss something at most nine times where the service leaves nodes out of full pages", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 5 }), { minLength: 40, maxLength: 40 }),
        async (lists) => {
          const store = makeMemory()
          await Effect.runPromise(readList(capped(upTo(150), 100), store))
          let wrong = 0
          for (const hidden of lists) {
            const service = capped(upTo(150), 100)
            const { ids } = await Effect.runPromise(
              readList((range) => service(range).filter((id) => !hidden.includes(id)), store)
            )
            if (!ids.includes(150)) wrong++
          }
          assert.isAtMost(wrong, 9)
        }
      ),
      { numRuns: 10 }
    ))

  it("miss nothing of a service that counts its pages from 0, after any earlier lists", async () => {
    const fromZero =
      (count: number) =>
      ({ page = 0, ...range }: PageRange) =>
        capped(upTo(count), 100)({ ...range, page: page + 1 })
    for (const exact of [true, false]) {
      const store = exact ? storeWith({ longest: 100, upTo: 99, listsLeft: 9 }) : makeMemory()
      await Effect.runPromise(readList(fromZero(250), store, { exact }))
      const { ids } = await Effect.runPromise(readList(fromZero(160), store))
      assert.sameMembers(ids, upTo(160))
    }
  })
})

describe("inexact lists", () => {
  it("continue after a page that others followed before, and after a full one", async () => {
    assert.deepStrictEqual(await costs([45, 45], false, 20), [
      [4, "assumed"],
      [4, "assumed"]
    ])
    const shortPages = storeWith({ longest: 20, upTo: 20, listsLeft: 9 })
    for (const exact of [true, false]) {
      const { ids } = await Effect.runPromise(readList(capped(upTo(45), 20), shortPages, { exact }))
      assert.deepStrictEqual(ids, upTo(45))
    }
    const store = makeMemory()
    await Effect.runPromise(readList(capped(upTo(100), 100), store))
    const { complete, ids } = await Effect.runPromise(readList(capped(upTo(150), 100), store, { exact: false }))
    assert.deepStrictEqual([ids.length, complete], [150, "assumed"])
  })

  it("are called complete only if nothing is missing, and check their assumptions every tenth time", () =>
    fc.assert(
      fc.asyncProperty(cap, fc.array(fc.nat({ max: 150 }), { minLength: 12, maxLength: 40 }), async (cap, sizes) => {
        const store = makeMemory()
        let wrong = 0
        for (const size of sizes) {
          const { complete, ids } = await Effect.runPromise(readList(capped(upTo(size), cap), store, { exact: false }))
          if (ids.length === size) wrong = 0
          else {
            wrong++
            assert.strictEqual(complete, "assumed")
          }
          assert.isAtMost(wrong, 9)
        }
      }),
      { numRuns: 40 }
    ))
})

describe("a memory from outside", () => {
  const good = { longest: 40, upTo: 7, listsLeft: 3 }
  it("is accepted when it is valid", () => {
    for (const value of [{}, { 100: good }, { 1: { longest: 1, upTo: 0, listsLeft: 0 }, 60: { ...good, upTo: 40 } }]) {
      assert.isTrue(isPageMemory(value), JSON.stringify(value))
    }
  })
  it("is rejected when it is not", () => {
    for (const value of [
      null,
      [],
      "{}",
      { 100: null },
      { 100: [] },
      { 0: good },
      { 101: good },
      { many: good },
      { 39: good },
      { 100: { ...good, longest: 101 } },
      { 100: { ...good, longest: -1 } },
      { 100: { ...good, longest: "40" } },
      { 100: { ...good, longest: 7.5 } },
      { 100: { ...good, upTo: 41 } },
      { 100: { ...good, upTo: undefined } },
      { 100: { ...good, listsLeft: 10 } },
      { 100: { ...good, listsLeft: Number.NaN } },
      { 100: { ...good, listsLeft: -1 } }
    ]) {
      assert.isFalse(isPageMemory(value), JSON.stringify(value))
    }
  })
})
