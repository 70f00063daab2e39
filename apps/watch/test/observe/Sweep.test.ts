import fc from "fast-check"
import { nodeFromWire } from "@berthkit/core/api/NodeCodec"
import type { ListRecord } from "@berthkit/core/client/listing/NodePage"
import type { Node } from "@berthkit/core/domain/Node"
import { describe, expect, it } from "@effect/vitest"
import type { Exchange, PageRead, SweepCompleted } from "../../src/diff/Observation.ts"
import { beginSweep, boundedNode, maxTextLength, nextPage, pageRead, takePage } from "../../src/observe/Sweep.ts"
import { aNode, nodeId } from "../diff/aNode.ts"

let order = 0
const moment = () => ({ order: ++order, atMillis: 0, monotonicMillis: 0, serviceMillis: null })
const exchange = (): Exchange => ({ asked: moment(), answered: moment() })
const many = (count: number) => Array.from({ length: count }, (_, index): ListRecord => aNode({ id: index + 1 }))

const unreadable = (id: ListRecord["id"]): ListRecord => ({
  _tag: "UnreadableRecord",
  id,
  name: null,
  field: "name",
  expected: "a string"
})

/**
 * Sweeps a list that may change with each page. `maxPerPage` is the service's limit, and `says` is what the service states about the list
 * on each page.
 */
const swept = (
  list: (page: number) => ReadonlyArray<ListRecord>,
  maxPerPage = 100,
  begun = beginSweep(3),
  says: { readonly isWhole?: boolean; readonly total?: number } = {}
) => {
  let sweep = begun
  const pages: Array<PageRead> = []
  for (;;) {
    const { page = 1, perPage } = nextPage(sweep)
    const size = Math.min(perPage, maxPerPage)
    const records = list(pages.length + 1).slice((page - 1) * size, page * size)
    const step = takePage(sweep, exchange(), { records, isWhole: false, total: null, ...says })
    pages.push(step.page)
    sweep = step.sweep
    if (step.completed !== null) return { pages, end: step.end, completed: step.completed as SweepCompleted }
  }
}

describe("a sweep", () => {
  it("counts the records that cannot be read once each, with an example, and nothing where all can", () => {
    const list = many(250)
      .with(3, unreadable(nodeId(4)))
      .with(99, unreadable(nodeId(100)))
      .with(200, unreadable(null))
    expect(swept(() => list).completed.unreadable).toEqual({ count: 3, example: "node 4, whose name is not a string" })
    expect(swept(() => many(250)).completed).not.toHaveProperty("unreadable")
  })

  it("counts each record without an id once, although pages overlap", () => {
    const list = many(259).map((record, index) => (index % 7 === 1 ? unreadable(null) : record))
    const { completed } = swept(() => list)
    expect(completed.unreadable?.count).toBe(list.filter((record) => record.id === null).length)
    expect(completed.nameless).toBe(completed.unreadable?.count)
  })

  it("counts each record without an id once, although every page is the same", () => {
    const page = many(100).with(3, unreadable(null)).with(4, unreadable(null))
    let sweep = beginSweep(3)
    for (;;) {
      nextPage(sweep)
      const step = takePage(sweep, exchange(), { records: page, isWhole: false, total: null })
      sweep = step.sweep
      if (step.completed === null) continue
      expect(step.completed).toMatchObject({ nameless: 2, unreadable: { count: 2 } })
      break
    }
  })

  it("has every node of a list while other nodes are deleted", () => {
    fc.assert(
      fc.property(fc.integer({ min: 150, max: 700 }), fc.array(fc.integer({ min: 0, max: 699 })), (count, gone) => {
        const stays = many(count).filter((_, index) => !gone.includes(index))
        const { pages } = swept((page) => (page === 1 ? many(count) : stays))
        const seen = new Set(pages.flatMap(({ nodes }) => nodes.map(({ id }) => id)))
        expect(stays.filter(({ id }) => !seen.has(id!))).toEqual([])
      }),
      { numRuns: 50, seed: 7 }
    )
  })

  it("takes two requests the first time, then one, and every tenth time two again", () => {
    for (const count of [0, 1, 40, 99]) {
      let lastId: number | null = null
      const requests = Array.from({ length: 21 }, (_, index) => {
        const { completed, end } = swept(() => many(count), 100, beginSweep(index + 1, lastId))
        lastId = end!.lastId
        return completed.requests
      })
      const nine = Array.from({ length: 9 }, () => 1)
      expect(requests).toEqual([2, ...nine, 2, ...nine, 2])
    }
  })

  it("takes one whenever the service says that the page is the only one, in whatever order", () => {
    for (const list of [many(40), many(40).toReversed(), []]) {
      expect(swept(() => list, 100, beginSweep(1), { isWhole: true }).completed.requests).toBe(1)
    }
  })

  it("takes one request while the list ends with the same node, although nodes before it are deleted", () => {
    const without = many(40).filter(({ id }) => id !== 7 && id !== 8)
    expect(swept(() => without, 100, beginSweep(3, 40)).completed).toMatchObject({ requests: 1, listed: 38 })
  })

  it("takes a second request where it ends with another node: others may follow a page that ends before", () => {
    expect(swept(() => many(39), 100, beginSweep(3, 40)).completed.requests).toBe(2)
    expect(swept(() => many(41), 100, beginSweep(3, 40)).completed.requests).toBe(2)
    expect(swept(() => [], 100, beginSweep(3, 40)).completed.requests).toBe(2)
    // A service that states that there are more nodes.
    expect(swept(() => many(40), 100, beginSweep(3, 40), { total: 41 }).completed.requests).toBe(2)
    // A service whose pages are shorter than before.
    expect(swept(() => many(40), 20, beginSweep(3, 40)).completed.listed).toBe(40)
    // A service that leaves out nodes of a page that is not the last one.
    const page = many(100).filter(({ id }) => id! % 30 !== 0)
    expect(swept((number) => (number === 1 ? page : many(150)), 100, beginSweep(3, 150)).completed.listed).toBe(150)
  })

  it("takes a second request where ids do not ascend any more, although the page ends with the same node", () => {
    const list = [...many(10).toReversed(), ...many(40).slice(10)]
    expect(swept(() => list, 100, beginSweep(3, 40)).completed.requests).toBeGreaterThan(1)
  })

  it("continues after a page with an unreadable record, and counts records without an id", () => {
    const list = many(250).map((record, index): ListRecord => {
      if (index === 20) return unreadable(nodeId(21))
      return index === 30 ? unreadable(null) : record
    })
    const { completed, pages } = swept(() => list)
    expect(completed).toMatchObject({ listed: 249, nameless: 1, sweep: 3 })
    expect(pages[0]!.unreadable).toEqual([21])
  })

  it("knows where an ascending list ends, and nothing of the end of another", () => {
    const { end, pages } = swept(() => many(250))
    expect(end).toEqual({ offset: 250, lastId: 250, firstId: Infinity })
    expect(pages.map(({ isEnd }) => isEnd)).toEqual([...pages.slice(1).map(() => false), true])
    expect(swept(() => many(250).toReversed()).end).toBeNull()
  })

  it("reads a service that returns small pages to its end", () => {
    expect(swept(() => many(130), 20).completed.listed).toBe(130)
  })

  it("began with its first request, and ends with the last", () => {
    const { completed, pages } = swept(() => many(250))
    expect(completed.asked).toBe(pages[0]!.asked)
    expect(completed.answered).toBe(pages.at(-1)!.answered)
  })
})

const shown = (over: object): Node =>
  nodeFromWire({ id: 1, name: "web", created_at: "2026-01-01T00:00:00Z", status: "running", ...over }) as Node

describe("a node as it enters the daemon", () => {
  it("is the same where its texts are bounded and well-formed", () => {
    const node = shown({ tags: ["a"], further: { some: "thing" } })
    expect(boundedNode(node)).toBe(node)
  })

  it.each([
    { name: "x".repeat(900_000) },
    { name: `${"x".repeat(maxTextLength - 1)}😀` },
    { name: "half a pair: \ud83d" },
    { status: `odd \udc00 ${"y".repeat(5000)}` },
    { tags: ["\ud83d", "z".repeat(5000), ...Array.from({ length: 1000 }, String)] },
    { further: "z".repeat(900_000) },
    { further: { deep: ["\ud83d"] } },
    { ["\ud83d".repeat(5000)]: 1 }
  ])("has no text that is longer or not well-formed: case %#", (over) => {
    const { nodes } = pageRead(exchange(), [shown(over)], 1, true)
    const json = JSON.stringify(nodes[0])
    expect(json.length).toBeLessThan(5000)
    expect(json).not.toMatch(/\\ud[89a-f]/)
    expect(nodes[0]).toMatchObject({ id: 1 })
  })
})
