import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import * as fc from "fast-check"
import * as Listing from "../../../src/client/listing/Listing.ts"
import { windowAt } from "../../../src/client/listing/Window.ts"
import { type Node, NodeId } from "../../../src/domain/Node.ts"

const node = (id: number): Node => ({
  id: NodeId.make(id),
  name: `node-${id}`,
  status: "running",
  createdAt: DateTime.makeUnsafe(0),
  vcpus: null,
  memoryMib: null,
  diskGb: null,
  publicIp: null,
  privateIp: null,
  plan: null,
  image: null,
  region: null,
  backups: null,
  locked: null,
  tags: [],
  extra: {}
})

interface Listed {
  readonly ids: ReadonlyArray<number>
  readonly requests: number
  readonly complete: boolean
}

/** Reads a list that gives at most `cap` a page, and lets `meanwhile` change it before every page. */
const read = (ids: Array<number>, cap: number, meanwhile: () => void = () => {}): Listed => {
  const seen: Array<number> = []
  let requests = 0
  let progress = Listing.begin
  for (;;) {
    if (requests++ > 10_000) return assert.fail("the listing does not end")
    meanwhile()
    const window = Listing.next(progress)
    const size = Math.min(cap, window.perPage)
    const page = ids.slice((window.page - 1) * size, window.page * size)
    const step: Listing.Step = Listing.take(progress, window, page.map(node))
    seen.push(...step.nodes.map(({ id }) => id))
    progress = step.progress
    if (step.ended) return { ids: seen, requests, complete: progress.complete }
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

describe("a listing", () => {
  for (const [count, cap, most] of [
    [0, 100, 1],
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
    [1000, 20]
  ] as const) {
    it(`of ${count} nodes in pages of ${size} whatever is asked for is whole`, () => {
      const given: Array<number> = []
      let requests = 0
      let progress = Listing.begin
      for (let ended = false; !ended;) {
        if (requests++ > 100) return assert.fail("the listing does not end")
        const window = Listing.next(progress)
        const page = upTo(count).slice((window.page - 1) * size, window.page * size)
        const step: Listing.Step = Listing.take(progress, window, page.map(node))
        given.push(...step.nodes.map(({ id }) => id))
        progress = step.progress
        ended = step.ended
      }
      assert.deepStrictEqual(given, upTo(count))
      assert.isFalse(progress.complete)
    })
  }

  it("ends with the first page where the service says that it is the only one, unless that is full", () => {
    const first = Listing.next(Listing.begin)
    assert.isTrue(Listing.take(Listing.begin, first, upTo(7).map(node), true).ended)
    assert.isFalse(Listing.take(Listing.begin, first, upTo(7).map(node), false).ended)
    assert.isFalse(Listing.take(Listing.begin, first, upTo(100).map(node), true).ended)
  })

  it("says that it is complete where pages overlap, and that it may not be where they cannot", () => {
    for (const count of [0, 1, 5, 100, 101, 999]) assert.isTrue(read(upTo(count), 100).complete, `${count} nodes`)
    assert.isTrue(read(upTo(999), 20).complete)
    assert.isFalse(read(upTo(9), 1).complete)
  })

  it("gives every node that exists throughout exactly once, whatever is created and deleted between pages", () => {
    const change = fc.record({ deletions: fc.array(fc.nat(), { maxLength: 30 }), creations: fc.nat({ max: 5 }) })
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 600 }),
        fc.integer({ min: 20, max: 100 }),
        fc.array(change, { maxLength: 40 }),
        (count, cap, changes) => {
          const list = upTo(count)
          const throughout = new Set(list)
          let highest = count
          let turn = 0
          const { ids } = read(list, cap, () => {
            const { creations, deletions } = changes[turn++] ?? { creations: 0, deletions: [] }
            for (const pick of deletions) {
              if (list.length === 0) break
              const [gone] = list.splice(pick % list.length, 1)
              throughout.delete(gone!)
            }
            for (let i = 0; i < creations; i++) list.push(++highest)
          })
          assert.strictEqual(new Set(ids).size, ids.length, "none twice")
          const given = new Set(ids)
          for (const id of throughout) assert.isTrue(given.has(id), `node ${id} exists throughout and is missing`)
        }
      ),
      { numRuns: 2000 }
    )
  })
})

describe("a window", () => {
  it("contains the last position read, and reaches beyond it", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 20, max: 100 }), (offset, largest) => {
        const { page, perPage, start } = windowAt(offset, largest)
        assert.strictEqual(start, (page - 1) * perPage)
        assert.isAtMost(start, offset - 1)
        assert.isAbove(start + perPage, offset)
        assert.isAtMost(perPage, largest)
      })
    )
  })
})
