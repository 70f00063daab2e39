import { describe, expect, it } from "@effect/vitest"
import { defaultRules } from "../../src/diff/Rules.ts"
import { soonestMillis, stuckAfterMillis } from "../../src/diff/Transition.ts"
import { aNode } from "./aNode.ts"
import { byHand, denyTwice, types } from "./byHand.ts"

const limit = 1_800_000
const times = (count: number, millis: number) => Array.from({ length: count }, () => millis)
const durations = (...created: ReadonlyArray<number>) => ({ creating: [], created, terminate: [] })

describe("the time after which a node is stuck", () => {
  const stuckAfter = (...created: ReadonlyArray<number>) =>
    stuckAfterMillis(durations(...created), "created", defaultRules)

  it("is the limit until twenty such nodes were seen", () => {
    expect(stuckAfter(...times(19, 100_000))).toBe(limit)
    expect(stuckAfter(...times(20, 100_000))).toBe(100_000)
  })

  it("is what 99 of 100 took, a minute at least and the limit at most", () => {
    expect(stuckAfter(500_000, ...times(198, 100_000), 500_000)).toBe(100_000)
    expect(stuckAfter(...times(197, 100_000), ...times(3, 500_000))).toBe(500_000)
    expect(stuckAfter(...times(20, 1000))).toBe(60_000)
    expect(stuckAfter(...times(20, 36_000_000))).toBe(limit)
  })
})

describe("the time before which no node changes", () => {
  it("is half of what the quickest took, once twenty were seen", () => {
    expect(soonestMillis(durations(...times(19, 100_000)), "created")).toBe(0)
    expect(soonestMillis(durations(...times(19, 100_000), 80_000), "created")).toBe(40_000)
  })
})

describe("how long nodes take", () => {
  const learned = (watch: ReturnType<typeof byHand>) => watch.snapshot.evidence.durations

  it("is kept of the last two hundred", () => {
    const watch = byHand()
    watch.baseline()
    watch.pass(1000)
    for (let id = 1; id <= 201; id++) {
      const createdAtMillis = watch.now()
      watch.finds(aNode({ id, status: "created", createdAtMillis }))
      watch.pass(id)
      watch.finds(aNode({ id, createdAtMillis }))
    }
    expect(learned(watch).created).toHaveLength(200)
    expect(learned(watch).created[0]).toBe(2)
  })

  it("is not learned from one that was there at the baseline, nor from one over a pause", () => {
    const watch = byHand()
    watch.pass(1000)
    watch.baseline(aNode({ id: 1, status: "created" }))
    const createdAtMillis = watch.pass(10_000)
    watch.finds(aNode({ id: 1 }))
    watch.finds(aNode({ id: 2, status: "created", createdAtMillis }))
    watch.pauses(60_000)
    watch.finds(aNode({ id: 2, createdAtMillis }))
    expect(learned(watch).created).toEqual([])
  })

  it("is learned from nodes that were deleted", () => {
    const watch = byHand()
    const stable = Array.from({ length: 30 }, (_, index) => aNode({ id: 100 + index }))
    watch.baseline(aNode({ id: 1 }), ...stable)
    watch.pass(1000)
    watch.finds(aNode({ id: 1, status: "terminate" }))
    watch.sweep(...stable)
    denyTwice(watch, [1], 5000)
    watch.sweep(...stable)
    expect(learned(watch).terminate).toEqual([5000])
  })
})

describe("a node that was stuck", () => {
  it("can be stuck again in another status", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1, status: "created" }))
    watch.pass(limit + 1)
    expect(types(watch.finds(aNode({ id: 1, status: "created" })))).toEqual(["node.stuck"])
    watch.finds(aNode({ id: 1, status: "terminate" }))
    watch.pass(limit + 1)
    expect(types(watch.finds(aNode({ id: 1, status: "terminate" })))).toEqual(["node.stuck"])
  })

  it("was in its status since that was first seen, whatever else changed", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1, status: "created" }))
    watch.pass(limit)
    watch.finds(aNode({ id: 1, status: "created", name: "renamed" }))
    watch.pass(1)
    expect(types(watch.finds(aNode({ id: 1, status: "created", name: "renamed" })))).toEqual(["node.stuck"])
  })
})
