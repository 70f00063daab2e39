import { describe, expect, it } from "@effect/vitest"
import { defaultRules } from "../../src/diff/Rules.ts"
import { isAnythingOpen, schedule } from "../../src/observe/Schedule.ts"
import { aNode } from "../diff/aNode.ts"
import { byHand } from "../diff/byHand.ts"

const cadence = { fastIntervalMillis: 1000 }
const scheduled = (watch: ReturnType<typeof byHand>) => schedule(watch.snapshot, watch.now(), defaultRules, cadence)
const many = (count: number, from: number, status: "running" | "created" = "running") =>
  Array.from({ length: count }, (_, index) => aNode({ id: from + index, status }))

describe("nodes in transition", () => {
  it("are polled one by one, the one with the oldest sample first", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1, status: "created" }), aNode({ id: 2, status: "terminate" }), aNode({ id: 3 }))
    watch.pass(500)
    watch.finds(aNode({ id: 1, status: "created" }))
    watch.pass(999)
    expect(scheduled(watch)).toEqual({ polls: [2], sweep: false })
    watch.pass(1)
    expect(scheduled(watch)).toEqual({ polls: [2, 1], sweep: false })
  })

  it("are read by a sweep when that takes fewer requests", () => {
    const watch = byHand()
    watch.baseline(...many(3, 1, "created"))
    watch.pass(1000)
    expect(scheduled(watch)).toEqual({ polls: [], sweep: true })
  })

  it("are polled less and less often: within an hour of waiting fewer than 100 times", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1, status: "created" }))
    let polls = 0
    for (let seconds = 0; seconds < 3600; seconds++) {
      watch.pass(1000)
      if (scheduled(watch).polls.length > 0) {
        polls++
        watch.finds(aNode({ id: 1, status: "created" }))
      }
    }
    expect(polls).toBeGreaterThan(40)
    expect(polls).toBeLessThan(100)
  })
})

describe("before the baseline", () => {
  it("a second sweep is due at once, and the nodes that it lacked are polled", () => {
    const watch = byHand()
    watch.sweep(...many(3, 1))
    expect(scheduled(watch)).toEqual({ polls: [], sweep: true })
    watch.sweep(...many(2, 1))
    expect(scheduled(watch)).toMatchObject({ polls: [3] })
  })
})

describe("suspects", () => {
  it("are polled at once, again after the grace, and then wait for a sweep if they still need one", () => {
    const watch = byHand()
    watch.baseline(...many(10, 1))
    expect(isAnythingOpen(watch.snapshot, defaultRules)).toBe(false)
    watch.sweep(...many(9, 1))
    expect(scheduled(watch)).toEqual({ polls: [10], sweep: false })
    watch.misses(10)
    watch.pass(59_999)
    expect(scheduled(watch).polls).toEqual([])
    watch.pass(1)
    expect(scheduled(watch)).toEqual({ polls: [10], sweep: false })
    watch.misses(10)
    expect(scheduled(watch)).toEqual({ polls: [], sweep: true })
    watch.sweep(...many(9, 1))
    expect(isAnythingOpen(watch.snapshot, defaultRules)).toBe(false)
  })

  it("beyond twenty are polled by sample, also when a thousand are gone at once", () => {
    const watch = byHand()
    watch.baseline(...many(1000, 1))
    watch.sweep()
    expect(scheduled(watch).polls).toHaveLength(20)
  })

  it("of which one was there are not polled before the next sweep", () => {
    const watch = byHand()
    watch.baseline(...many(50, 1))
    watch.sweep()
    const [first] = scheduled(watch).polls
    watch.finds(aNode({ id: first! }))
    expect(scheduled(watch).polls).toEqual([])
  })

  it("that reads show and lists lack are polled less and less often", () => {
    const watch = byHand()
    watch.baseline(...many(10, 1))
    let polls = 0
    for (let seconds = 0; seconds < 3600; seconds += 10) {
      watch.pass(10_000)
      watch.sweep(...many(9, 1))
      if (scheduled(watch).polls.length > 0) {
        polls++
        watch.finds(aNode({ id: 10 }))
      }
    }
    expect(polls).toBeGreaterThan(10)
    expect(polls).toBeLessThan(25)
  })
})
