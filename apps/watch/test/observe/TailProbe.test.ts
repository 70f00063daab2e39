import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import type { End } from "../../src/observe/Sweep.ts"
import { tailPage, takeTail } from "../../src/observe/TailProbe.ts"
import { aNode } from "../diff/aNode.ts"

const moment = { order: 1, atMillis: 0, monotonicMillis: 0, serviceMillis: null }
const exchange = { asked: moment, answered: moment }

/** Requests pages until the end of the list is found; returns the number of requests, and the nodes that were seen. */
const probe = (ids: ReadonlyArray<number>, before: { readonly offset: number; readonly lastId: number }) => {
  let end: End = { ...before, firstId: Infinity }
  const seen = new Set<number>()
  for (let requests = 1; requests < 50; requests++) {
    const { perPage, start } = tailPage(end)
    const step = takeTail(
      end,
      exchange,
      ids.slice(start, start + perPage).map((id) => aNode({ id }))
    )
    for (const { id } of step.page.nodes) seen.add(id)
    if (step.end === null) throw new Error("no ascending list")
    end = step.end
    if (!step.isOpen) return { requests, seen, end, isEnd: step.page.isEnd }
  }
  throw new Error("no end")
}
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

describe("the end of the list", () => {
  it("is not known any more in a list that does not ascend", () => {
    const nodes = [3, 1, 2].map((id) => aNode({ id }))
    const { end, isOpen, page } = takeTail({ offset: 3, lastId: 3, firstId: 1 }, exchange, nodes)
    expect({ end, isEnd: page.isEnd, isOpen }).toEqual({ end: null, isEnd: false, isOpen: false })
    expect(page.nodes).toEqual(nodes)
  })

  it("takes one request while a few nodes are added", () => {
    const { end, isEnd, requests, seen } = probe(upTo(1010), { offset: 1000, lastId: 1000 })
    expect({ end, isEnd, requests }).toMatchObject({ end: { offset: 1010, lastId: 1010 }, isEnd: true, requests: 1 })
    expect(seen.has(1010)).toBe(true)
  })

  it("shows the newest forty nodes and twenty new ones, whatever their number", () => {
    for (let count = 100; count < 3000; count++) {
      const { end, requests, seen } = probe(upTo(count + 19), { offset: count, lastId: count })
      expect(requests).toBe(1)
      expect(end.firstId).toBeLessThanOrEqual(count - 39)
      expect(Math.min(...seen)).toBe(end.firstId)
    }
  })

  it.each([
    { what: "is empty", count: 0 },
    { what: "lost its last thousand", count: 9000 },
    { what: "has its first hundred left", count: 100 }
  ])("is found in a few requests in a list of ten thousand that $what, and when they are back", ({ count }) => {
    const short = probe(upTo(count), { offset: 10_000, lastId: 10_000 })
    expect(short.requests).toBeLessThanOrEqual(12)
    expect(short.isEnd).toBe(true)
    const back = probe([...upTo(10_000), 10_001], short.end)
    expect(back.requests).toBeLessThanOrEqual(16)
    expect(back.seen.has(10_001)).toBe(true)
    expect(back.end).toMatchObject({ offset: 10_001, lastId: 10_001 })
  })

  it("is found from any state of a search, as where nodes that were there are hidden meanwhile", () => {
    const place = fc.integer({ min: 0, max: 1000 })
    const search = fc.record({ low: place, high: fc.option(place), step: fc.constantFrom(0, 100, 200) })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 900 }),
        fc.integer({ min: 1, max: 1000 }),
        search,
        (count, offset, search) => {
          let end: End | null = { offset, lastId: count, firstId: Infinity, search }
          let isOpen = true
          for (let requests = 0; isOpen && end !== null; requests++) {
            expect(requests).toBeLessThan(30)
            const { perPage, start } = tailPage(end)
            const nodes = upTo(count).slice(start, start + perPage)
            const step = takeTail(
              end,
              exchange,
              nodes.map((id) => aNode({ id }))
            )
            end = step.end
            isOpen = step.isOpen
          }
          expect(end).toMatchObject({ offset: count, lastId: count })
        }
      ),
      { numRuns: 300, seed: 7, examples: [[150, 194, { low: 235, high: 154, step: 0 }]] }
    )
  })

  it("shows each of a thousand nodes that are new", () => {
    const { requests, seen } = probe(upTo(2000), { offset: 1000, lastId: 1000 })
    expect(upTo(2000).filter((id) => id > 1000 && !seen.has(id))).toEqual([])
    expect(requests).toBeLessThanOrEqual(20)
  })

  it("misses no node behind the last one, whatever was deleted and added meanwhile", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 900 }),
        fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 400 }),
        fc.integer({ min: 0, max: 350 }),
        (count, deleted, added) => {
          const ids = [...upTo(count).filter((id) => !deleted.includes(id)), ...upTo(added).map((n) => count + n)]
          const { isEnd, seen } = probe(ids, { offset: count, lastId: count })
          expect(ids.filter((id) => id > count && !seen.has(id))).toEqual([])
          expect(isEnd).toBe(true)
        }
      ),
      { numRuns: 300, seed: 7 }
    )
  })
})
