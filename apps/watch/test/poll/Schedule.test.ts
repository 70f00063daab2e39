import { describe, expect, it } from "@effect/vitest"
import { defaultRules } from "../../src/diff/diff.ts"
import { schedule } from "../../src/poll/Schedule.ts"
import { aNode } from "../diff/aNode.ts"
import { byHand } from "../diff/byHand.ts"

const cadence = { fastIntervalMillis: 1000 }
const scheduled = (watch: ReturnType<typeof byHand>) => schedule(watch.snapshot, watch.now(), defaultRules, cadence)
const many = (count: number, from: number, status: "running" | "created" = "running") =>
  Array.from({ length: count }, (_, index) => aNode({ id: from + index, status }))

describe("nodes in transition", () => {
  it("are polled one by one, the one with the oldest sample first", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "created" }), aNode({ id: 2, status: "terminate" }), aNode({ id: 3 }))
    watch.pass(500)
    watch.finds(aNode({ id: 1, status: "created" }))
    watch.pass(999)
    expect(scheduled(watch)).toEqual({ polls: [2], sweep: false })
    watch.pass(1)
    expect(scheduled(watch)).toEqual({ polls: [2, 1], sweep: false })
  })

  it("are read by a sweep when that takes fewer requests", () => {
    const watch = byHand()
    watch.sweep(...many(3, 1, "created"))
    watch.pass(1000)
    expect(scheduled(watch)).toEqual({ polls: [], sweep: true })
  })

  it("are polled less and less often: within an hour of waiting fewer than 100 times", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "created" }))
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

describe("suspects", () => {
  it("are polled at once, and again after the grace", () => {
    const watch = byHand()
    watch.sweep(...many(10, 1))
    watch.sweep(...many(9, 1))
    expect(scheduled(watch).polls).toEqual([10])
    watch.misses(10)
    watch.pass(4999)
    expect(scheduled(watch).polls).toEqual([])
    watch.pass(1)
    expect(scheduled(watch).polls).toEqual([10])
  })

  it("that one sweep lacked are left to another sweep when they are many, for most have only moved", () => {
    const watch = byHand()
    watch.sweep(...many(10, 1))
    watch.sweep(...many(7, 1))
    expect(scheduled(watch)).toEqual({ polls: [], sweep: true })
    watch.sweep(...many(7, 1))
    expect(scheduled(watch)).toEqual({ polls: [8, 9, 10], sweep: false })
  })

  it("of a list too short to be believed are polled only as far as it takes to prove it wrong", () => {
    const watch = byHand()
    watch.sweep(...many(50, 1))
    watch.sweep()
    watch.sweep()
    expect(scheduled(watch)).toEqual({ polls: [1, 2, 3], sweep: false })
  })

  it("do not keep nodes in transition from their polls, which a list in doubt cannot replace", () => {
    const watch = byHand()
    const changing = many(3, 101, "created")
    watch.sweep(...many(50, 1), ...changing)
    watch.sweep(...changing)
    watch.sweep(...changing)
    watch.pass(1000)
    expect(scheduled(watch)).toEqual({ polls: [1, 2, 3, 101, 102, 103], sweep: false })
  })

  it("that were the last of a small account wait for one more sweep", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }))
    watch.sweep()
    watch.misses(1)
    expect(scheduled(watch)).toEqual({ polls: [], sweep: false })
    watch.pass(5000)
    watch.misses(1)
    expect(scheduled(watch)).toEqual({ polls: [], sweep: true })
  })
})

it("one more sweep does not wait for the 404s of nodes that were seen terminating", () => {
  const watch = byHand()
  watch.sweep(aNode({ id: 1 }), aNode({ id: 2, status: "terminate" }))
  watch.sweep()
  watch.misses(1)
  watch.pass(5000)
  watch.misses(1)
  expect(scheduled(watch)).toEqual({ polls: [2], sweep: true })
})

it("nothing is due while no node is pending", () => {
  const watch = byHand()
  watch.sweep(...many(10, 1))
  watch.pass(60_000)
  expect(scheduled(watch)).toEqual({ polls: [], sweep: false })
})
