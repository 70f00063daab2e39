import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Listing from "../../../src/client/listing/Listing.ts"
import { rangeAround, rangeAt } from "../../../src/client/listing/PageRange.ts"
import { someNode as node } from "../../someNode.ts"

interface Listed {
  readonly ids: ReadonlyArray<number>
  readonly requests: number
  readonly complete: boolean | "assumed"
}

/** A service that has these nodes in this order. Returns one page of them. */
type Service = (ids: ReadonlyArray<number>, page: number | undefined, perPage: number) => ReadonlyArray<number>

/** Returns at most `cap` nodes a page. */
const capped =
  (cap: number): Service =>
  (ids, page = 1, perPage) => {
    const size = Math.min(cap, perPage)
    return ids.slice((page - 1) * size, page * size)
  }

/** A service that counts its pages from 0. */
const fromZero =
  (cap: number): Service =>
  (ids, page = 0, perPage) =>
    capped(cap)(ids, page + 1, perPage)

/** Returns pages of `size` for any request. */
const ofItsOwn =
  (size: number): Service =>
  (ids, page = 1) =>
    ids.slice((page - 1) * size, page * size)

/** Reads the list of a service, and lets `meanwhile` change it before every page. */
const readFrom = (service: Service, ids: Array<number>, meanwhile: () => void = () => {}): Listed => {
  const seen: Array<number> = []
  let requests = 0
  let progress: Listing.Progress = Listing.begin()
  for (;;) {
    if (requests++ > 10_000) return assert.fail("the listing does not end")
    meanwhile()
    const range = Listing.next(progress)
    assert.isAtMost(range.perPage, 100)
    const step: Listing.Step = Listing.take(
      progress,
      range,
      service(ids, range.page, range.perPage).map((id) => node(id))
    )
    seen.push(...step.nodes.map(({ id }) => id))
    progress = step.progress
    if (step.ended) return { ids: seen, requests, complete: step.progress.complete }
  }
}

const read = (ids: Array<number>, cap: number, meanwhile?: () => void) => readFrom(capped(cap), ids, meanwhile)

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

describe("a listing", () => {
  for (const [count, cap, most] of [
    [0, 100, 2],
    [1, 100, 2],
    [100, 100, 2],
    [101, 100, 2],
    [1000, 100, 12],
    [10_000, 100, 115],
    [45, 20, 4],
    [3, 1, 4]
  ] as const) {
    it(`of ${count} nodes in pages of at most ${cap} is whole after ${most} requests at most`, () => {
      const { ids, requests } = read(upTo(count), cap)
      assert.deepStrictEqual(ids, upTo(count))
      assert.isAtMost(requests, most)
    })
  }

  for (const [count, size] of [
    [7, 2],
    [45, 20],
    [1000, 20],
    [60, 100],
    [130, 200],
    [500, 130]
  ] as const) {
    it(`of ${count} nodes in pages of ${size} for any request is whole`, () => {
      const { complete, ids, requests } = readFrom(ofItsOwn(size), upTo(count))
      assert.deepStrictEqual(ids, upTo(count))
      assert.isAtMost(requests, Math.ceil(count / size) + 14)
      assert.strictEqual(complete, count <= size)
    })
  }

  it("of a service that returns one page for any request ends, and is not called complete", () => {
    const ids = upTo(250)
    const { complete, ids: given, requests } = readFrom((all) => all.slice(0, 20), ids)
    assert.deepStrictEqual(given, upTo(20))
    assert.isFalse(complete)
    assert.isAtMost(requests, 6)
  })

  for (const count of [0, 1, 60, 100, 101, 150, 200, 250, 1000]) {
    it(`of ${count} nodes of a service that counts its pages from 0 is whole`, () => {
      const { complete, ids } = readFrom(fromZero(100), upTo(count))
      assert.sameMembers([...ids], upTo(count))
      assert.strictEqual(complete, count === 0)
    })
  }

  it("has each node once, and is not complete if the newest come first", () => {
    const newestFirst = upTo(250).toReversed()
    const { complete, ids, requests } = read(newestFirst, 100)
    assert.deepStrictEqual(ids, newestFirst)
    assert.isFalse(complete)
    assert.isAtMost(requests, 5)
  })

  it("ends with the first page where the service calls it the only one, unless it is full", () => {
    const first = Listing.next(Listing.begin())
    const took = (ids: ReadonlyArray<number>, isWhole: boolean) =>
      Listing.take(
        Listing.begin(),
        first,
        ids.map((id) => node(id)),
        isWhole
      )
    assert.isTrue(took(upTo(7), true).ended)
    assert.isTrue(took([], true).ended)
    assert.isTrue(took(upTo(7).toReversed(), true).progress.complete)
    assert.isTrue(took(upTo(7).toReversed(), true).ended)
    assert.isFalse(took(upTo(7), false).ended)
    assert.isFalse(took(upTo(100), true).ended)
  })

  it("is called complete where pages overlap, and not where they cannot", () => {
    for (const count of [0, 1, 5, 100, 101, 999]) assert.isTrue(read(upTo(count), 100).complete, `${count} nodes`)
    assert.isTrue(read(upTo(999), 20).complete)
    assert.isFalse(read(upTo(9), 1).complete)
  })

  /** The changes to a list before each page. */
  const change = fc.record({
    deletions: fc.array(fc.nat(), { maxLength: 30 }),
    creations: fc.array(fc.nat(), { maxLength: 5 })
  })
  const changes = fc.array(change, { maxLength: 40 })

  /** Reads a list with these changes. New nodes are added at its end, or anywhere. */
  const readChanging = (
    service: Service,
    list: Array<number>,
    changes: ReadonlyArray<{ readonly deletions: ReadonlyArray<number>; readonly creations: ReadonlyArray<number> }>,
    atEnd: boolean
  ) => {
    const throughout = new Set(list)
    let highest = list.length
    let turn = 0
    const listed = readFrom(service, list, () => {
      const { creations, deletions } = changes[turn++] ?? { creations: [], deletions: [] }
      for (const pick of deletions) {
        if (list.length === 0) break
        const [gone] = list.splice(pick % list.length, 1)
        throughout.delete(gone!)
      }
      for (const place of creations) list.splice(atEnd ? list.length : place % (list.length + 1), 0, ++highest)
    })
    assert.strictEqual(new Set(listed.ids).size, listed.ids.length, "none twice")
    const given = new Set(listed.ids)
    return { ...listed, missing: Array.from(throughout).filter((id) => !given.has(id)) }
  }

  it("emits every node that exists throughout exactly once, for any creates and deletes between pages", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 600 }),
        fc.integer({ min: 20, max: 100 }),
        changes,
        (count, cap, changes) => {
          assert.deepStrictEqual(readChanging(capped(cap), upTo(count), changes, true).missing, [])
        }
      ),
      { numRuns: 400 }
    )
  })

  it("is called complete where the list ascends and sometimes changes", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 150, max: 600 }),
        fc.integer({ min: 20, max: 100 }),
        fc.array(change, { maxLength: 3 }),
        (count, cap, changes) => {
          const { complete, missing } = readChanging(capped(cap), upTo(count), changes, true)
          assert.deepStrictEqual(missing, [])
          assert.isTrue(complete)
        }
      ),
      { numRuns: 400 }
    )
  })

  const size = fc.integer({ min: 1, max: 100 })
  const service = fc.oneof(
    size.map(capped),
    fc.integer({ min: 3, max: 100 }).map(fromZero),
    fc.integer({ min: 1, max: 300 }).map(ofItsOwn)
  )
  const anyOrder = fc.oneof(
    fc.nat({ max: 300 }).map((count) => upTo(count).toReversed()),
    fc.nat({ max: 300 }).chain((count) => fc.shuffledSubarray(upTo(count), { minLength: count, maxLength: count })),
    // Nodes that are in order except for a few.
    fc.tuple(fc.nat({ max: 300 }), fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 3 })).map(([count, moves]) => {
      const ids = upTo(count)
      for (const [from, to] of moves) if (count > 0) ids.splice(to % count, 0, ...ids.splice(from % count, 1))
      return ids
    })
  )

  it("emits every node of an unchanging list once, in any order and with any page size", () => {
    fc.assert(
      fc.property(service, anyOrder, (service, ids) => {
        const { missing } = readChanging(service, ids, [], true)
        assert.deepStrictEqual(missing, [])
      }),
      { numRuns: 400 }
    )
  })

  it("is called complete only if no node that existed throughout is missing, in any order of the service", () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 100 }), anyOrder, changes, fc.boolean(), (cap, ids, changes, atEnd) => {
        const { complete, missing } = readChanging(capped(cap), ids, changes, atEnd)
        if (complete) assert.deepStrictEqual(missing, [])
      }),
      { numRuns: 400 }
    )
  })
})

describe("a range", () => {
  it("contains the last position read, and reaches beyond it", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 20, max: 100 }), (offset, largest) => {
        const { page, perPage, start } = rangeAt(offset, largest)
        assert.strictEqual(page, start / perPage + 1)
        assert.isAtMost(start, offset - 1)
        assert.isAbove(start + perPage, offset)
        assert.isAtMost(perPage, largest)
      })
    )
  })

  it("around the end of a list has the last node, and as many places behind it as before it, or nearly", () => {
    fc.assert(
      fc.property(fc.integer({ min: 101, max: 100_000 }), fc.integer({ min: 20, max: 100 }), (length, largest) => {
        const { page, perPage, start } = rangeAround(length, largest)
        assert.strictEqual(page, start / perPage + 1)
        assert.isBelow(start, length)
        assert.isAbove(Math.min(length - start, start + perPage - length), largest / 12)
        assert.isAtMost(perPage, largest)
      })
    )
  })
})
