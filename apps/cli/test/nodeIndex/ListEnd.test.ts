import type { Node } from "@berthkit/core/domain/Node"
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as ListEnd from "../../src/nodeIndex/ListEnd.ts"
import type * as NodeIndex from "../../src/nodeIndex/NodeIndex.ts"
import { indexOfList, pageOf, someNode } from "./someNode.ts"

interface Read {
  /** Undefined where the list contradicts the index. */
  readonly ids: ReadonlyArray<number> | undefined
  readonly length: number
  readonly requests: number
}

/** Reads the end of a list; `meanwhile` may change it before each page. */
const read = (index: NodeIndex.NodeIndex, list: Array<Node>, cap = 100, meanwhile: () => void = () => {}): Read => {
  let step = ListEnd.begin(index)
  for (let requests = 0; ; requests++) {
    if (step._tag === "Unclear") return { ids: undefined, length: 0, requests }
    if (step._tag === "Ended") return { ids: step.nodes.map(({ id }) => id), length: step.length, requests }
    assert.isAtMost(requests, 200, "it does not end")
    meanwhile()
    const { range, state } = step
    assert.isAtMost(range.perPage, 100)
    step = ListEnd.take(state, range, pageOf(list, range.page, range.perPage, cap))
  }
}

/** Made once: of hundreds of lists most of the time would go into making them. */
const nodes = Array.from({ length: 12_000 }, (_, i) => someNode(i + 1))
const upTo = (count: number) => nodes.slice(0, count)
const indexOf = (list: ReadonlyArray<Node>, maxPage = 100) => indexOfList(list, maxPage)

/** The list after some nodes were deleted, from the end of the list backwards or anywhere, and others made. */
const changed = (list: ReadonlyArray<Node>, deleted: number, made: number, isAtEnd: boolean) => {
  const step = Math.max(1, Math.floor(list.length / Math.max(1, deleted)))
  const left = isAtEnd
    ? list.slice(0, list.length - deleted)
    : list.filter((_, i) => i % step !== 0 || i / step >= deleted)
  const highest = list.at(-1)?.id ?? 0
  return [...left, ...Array.from({ length: made }, (_, i) => someNode(highest + 1 + 2 * i))]
}

describe("the end of the list", () => {
  it("takes at most 2 requests while at most 50 nodes were made or deleted", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 101, max: 12_000 }),
        fc.nat(50),
        fc.nat(50),
        fc.boolean(),
        (count, a, b, isAtEnd) => {
          const [deleted, made] = [Math.min(a, b), Math.abs(a - b)]
          const list = upTo(count)
          const now = changed(list, deleted, made, isAtEnd)
          const { ids, requests } = read(indexOf(list), now)
          assert.deepStrictEqual(
            ids,
            now.flatMap(({ id }) => (id > count ? [id] : []))
          )
          assert.isAtMost(requests, 2)
        }
      ),
      { numRuns: 60 }
    )
  })

  it("is read while the account at most grows by half, for pages of 20 nodes or more", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 101, max: 2000 }),
        fc.nat(2000),
        fc.nat(400),
        fc.boolean(),
        fc.integer({ min: 20, max: 100 }),
        (count, a, made, isAtEnd, cap) => {
          const list = upTo(count)
          const now = changed(list, Math.min(count - 1, a), Math.min(made, Math.floor(count / 2)), isAtEnd)
          const { ids, length } = read(indexOf(list, cap), now, cap)
          assert.deepStrictEqual(
            { ids, length },
            { ids: now.flatMap(({ id }) => (id > count ? [id] : [])), length: now.length }
          )
        }
      ),
      { numRuns: 60 }
    )
  })

  it("misses no new node while others are deleted before each page, or is unclear", () => {
    fc.assert(
      fc.property(fc.integer({ min: 101, max: 600 }), fc.nat(300), fc.array(fc.nat(900)), (count, made, deletions) => {
        const list = upTo(count)
        const now = changed(list, 0, made, false)
        const deletes = deletions.values()
        const { ids } = read(indexOf(list), now, 100, () => {
          for (const at of [deletes.next().value, deletes.next().value]) {
            if (at !== undefined && at < now.length) now.splice(at, 1)
          }
        })
        if (ids === undefined) return
        for (const { id } of now) if (id > count) assert.include(ids, id)
      }),
      { numRuns: 100 }
    )
  })

  it("is unclear or right for pages of any size", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 101, max: 300 }),
        fc.nat(40),
        fc.integer({ min: 2, max: 19 }),
        (count, made, cap) => {
          const list = upTo(count)
          const now = changed(list, 0, made, true)
          const { ids } = read(indexOf(list, cap), now, cap)
          if (ids === undefined) return
          assert.deepStrictEqual(
            ids,
            now.flatMap(({ id }) => (id > count ? [id] : []))
          )
        }
      )
    )
  })

  it("is found after many deletions in the steps back, and the pages from there", () => {
    const list = upTo(3000)
    // Steps back double, and nothing behind a page that was empty is read.
    assert.deepStrictEqual(read(indexOf(list), list.slice(0, 1200)), { ids: [], length: 1200, requests: 16 })
    assert.deepStrictEqual(read(indexOf(list), list.slice(0, 2880)), { ids: [], length: 2880, requests: 2 })
  })

  it("is unclear where pages are longer than was asked for", () => {
    const index = indexOf(upTo(1010))
    const step = ListEnd.begin(index)
    if (step._tag !== "Read") return assert.fail("nothing is read")
    const { range, state } = step
    const page = upTo(1010 + range.perPage).slice(range.start, range.start + range.perPage + 1)
    assert.strictEqual(ListEnd.take(state, range, page)._tag, "Unclear")
    assert.notStrictEqual(ListEnd.take(state, range, page.slice(0, -1))._tag, "Unclear")
  })

  it("is given up where the list grows with each page", () => {
    const list = upTo(1000)
    const { ids, requests } = read(indexOf(list), Array.from(list), 100, () => {})
    assert.deepStrictEqual([ids, requests], [[], 1])
    const growing = Array.from(list)
    const endless = read(indexOf(list), growing, 100, () => {
      for (let made = 0; made < 200; made++) growing.push(someNode(growing.length + 1))
    })
    assert.isUndefined(endless.ids)
    assert.isAtMost(endless.requests, 40)
  })

  it.each([
    ["gives shorter pages than it did", (list: Array<Node>) => read(indexOf(list), list, 20)],
    [
      "has other nodes with the same ids",
      (list: Array<Node>) =>
        read(
          indexOf(list),
          list.map(({ id }) => someNode(id, "x"))
        )
    ],
    ["has another order", (list: Array<Node>) => read(indexOf(list), list.toReversed())],
    [
      "has new nodes in another order",
      (list: Array<Node>) => read(indexOf(list), [...list, ...[1003, 1001, 1002].map((id) => someNode(id))])
    ],
    [
      "has a last node that the index lacks",
      (list: Array<Node>) => read({ ...indexOf(list.slice(0, -1)), completeTo: 1000 }, list)
    ],
    ["has nodes that the index lacks", (list: Array<Node>) => read(indexOf(list.filter(({ id }) => id !== 990)), list)],
    ["is empty", (list: Array<Node>) => read(indexOf(list), [])]
  ])("is unclear where the list %s", (_, readList) => {
    assert.isUndefined(readList(upTo(1000)).ids)
  })
})
