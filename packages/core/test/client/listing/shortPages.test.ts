/** The end of a list whose first page is shorter than requested: that page may be the whole list, or a full page of the service. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { take, begin, next } from "../../../src/client/listing/Listing.ts"
import type { PageRange } from "../../../src/client/listing/PageRange.ts"
import { capped, readList, upTo } from "./readList.ts"

/** The number of requests that a list of this size takes, and its `complete`. */
const costOf = async (size: number, exact: boolean, cap = 100) => {
  const { complete, ids, requests } = await Effect.runPromise(readList(capped(upTo(size), cap), { exact }))
  assert.lengthOf(ids, size)
  return [requests, complete]
}

describe("a list of an account of one page", () => {
  for (const exact of [true, false]) {
    it(`takes one request more, which shows that nothing follows (exact: ${exact})`, async () => {
      for (const size of [0, 1, 2, 7, 40, 99]) assert.deepStrictEqual(await costOf(size, exact), [2, true])
    })
  }

  it("continues after a short page of a service without longer pages, at each reading", async () => {
    for (const cap of [1, 19, 20, 50, 99]) {
      for (const exact of [true, false]) {
        const { ids } = await Effect.runPromise(readList(capped(upTo(3 * cap + 1), cap), { exact }))
        assert.deepStrictEqual(ids, upTo(3 * cap + 1))
      }
    }
  })

  it("takes one where the service says that it is the only page, in any order, and two where that page is full", () => {
    const nodes = (count: number) => upTo(count).map((id) => ({ id }))
    for (const page of [nodes(99), nodes(99).toReversed(), []]) {
      assert.deepInclude(take(begin(), next(begin()), page, true), { nodes: page, ended: true })
      assert.isFalse(take(begin(), next(begin()), page).ended)
    }
    assert.isFalse(take(begin(), next(begin()), nodes(100), true).ended)
  })
})

describe("a list of 10 000 nodes", () => {
  it("takes 114 requests exact, and 101 otherwise", async () => {
    assert.deepStrictEqual(await costOf(10_000, true), [114, true])
    assert.deepStrictEqual(await costOf(10_000, false), [101, "assumed"])
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

const cap = fc.integer({ min: 20, max: 100 })

describe("exact lists", () => {
  it("miss nothing, for any creates and deletes, whatever lengths the pages have from one list to the next", () =>
    fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 300 }),
        fc.array(fc.tuple(cap, fc.array(change, { maxLength: 8 })), { minLength: 1, maxLength: 6 }),
        async (count, lists) => {
          const account: Account = { ids: upTo(count), highest: count }
          for (const [cap, changes] of lists) {
            const throughout = new Set(account.ids)
            let turn = 0
            const { complete, ids } = await Effect.runPromise(
              readList((range) => {
                for (const id of happen(changes[turn++] ?? { creations: 0, deletions: [] }, account))
                  throughout.delete(id)
                return capped(account.ids, cap)(range)
              })
            )
            const given = new Set(ids)
            assert.strictEqual(given.size, ids.length, "none twice")
            assert.deepStrictEqual(
              Array.from(throughout).filter((id) => !given.has(id)),
              []
            )
            assert.isBoolean(complete)
          }
        }
      ),
      { numRuns: 40 }
    ))

  it("miss nothing if the service returns fewer nodes for some page sizes than for others", () =>
    fc.assert(
      fc.asyncProperty(
        cap,
        fc.func(fc.integer({ min: 2, max: 100 })),
        fc.array(fc.nat({ max: 300 }), { minLength: 1, maxLength: 6 }),
        async (cap, capOf, sizes) => {
          for (const size of sizes) {
            const { ids } = await Effect.runPromise(readList(capped(upTo(size), cap, capOf)))
            assert.deepStrictEqual(ids, upTo(size))
          }
        }
      ),
      { numRuns: 40 }
    ))

  it("continue if the service leaves nodes out of a full page", () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 5 }), async (hidden) => {
        const service = capped(upTo(150), 100)
        const { ids } = await Effect.runPromise(
          readList((range) => service(range).filter((id) => !hidden.includes(id)))
        )
        assert.include(ids, 150)
      }),
      { numRuns: 40 }
    ))

  it("miss nothing of a service that counts its pages from 0", async () => {
    const fromZero =
      (count: number) =>
      ({ page = 0, ...range }: PageRange) =>
        capped(upTo(count), 100)({ ...range, page: page + 1 })
    for (const exact of [true, false]) {
      for (const count of [40, 160]) {
        const { ids } = await Effect.runPromise(readList(fromZero(count), { exact }))
        assert.sameMembers(ids, upTo(count))
      }
    }
  })
})

describe("inexact lists", () => {
  it("have every entry while nothing changes", () =>
    fc.assert(
      fc.asyncProperty(cap, fc.nat({ max: 150 }), async (cap, size) => {
        const { ids } = await Effect.runPromise(readList(capped(upTo(size), cap), { exact: false }))
        assert.deepStrictEqual(ids, upTo(size))
      }),
      { numRuns: 100 }
    ))
})
