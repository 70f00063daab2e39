import { describe, expect, it } from "@effect/vitest"
import { defaultRules } from "../../src/diff/diff.ts"
import { plan } from "../../src/poll/Plan.ts"
import { aNode } from "../diff/aNode.ts"
import { byHand } from "../diff/byHand.ts"

const cadence = { fastIntervalMillis: 1000 }
const planned = (watch: ReturnType<typeof byHand>) => plan(watch.snapshot, watch.now(), defaultRules, cadence)
const many = (count: number, from: number, status: "running" | "created" = "running") =>
  Array.from({ length: count }, (_, index) => aNode({ id: from + index, status }))

describe("nodes in transition", () => {
  it("are asked for one by one, the one seen longest ago first", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "created" }), aNode({ id: 2, status: "terminate" }), aNode({ id: 3 }))
    watch.pass(500)
    watch.finds(aNode({ id: 1, status: "created" }))
    watch.pass(999)
    expect(planned(watch)).toEqual({ looks: [2], sweep: false })
    watch.pass(1)
    expect(planned(watch)).toEqual({ looks: [2, 1], sweep: false })
  })

  it("are asked for by a sweep when that takes fewer requests", () => {
    const watch = byHand()
    watch.sweep(...many(3, 1, "created"))
    watch.pass(1000)
    expect(planned(watch)).toEqual({ looks: [], sweep: true })
  })

  it("are asked for less and less often: within an hour of waiting fewer than 100 times", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "created" }))
    let looks = 0
    for (let seconds = 0; seconds < 3600; seconds++) {
      watch.pass(1000)
      if (planned(watch).looks.length > 0) {
        looks++
        watch.finds(aNode({ id: 1, status: "created" }))
      }
    }
    expect(looks).toBeGreaterThan(40)
    expect(looks).toBeLessThan(100)
  })
})

describe("suspects", () => {
  it("are asked for at once, and again after the grace", () => {
    const watch = byHand()
    watch.sweep(...many(10, 1))
    watch.sweep(...many(9, 1))
    expect(planned(watch).looks).toEqual([10])
    watch.misses(10)
    watch.pass(4999)
    expect(planned(watch).looks).toEqual([])
    watch.pass(1)
    expect(planned(watch).looks).toEqual([10])
  })

  it("that one sweep lacked are looked for in another when they are many, for most have only moved", () => {
    const watch = byHand()
    watch.sweep(...many(10, 1))
    watch.sweep(...many(7, 1))
    expect(planned(watch)).toEqual({ looks: [], sweep: true })
    watch.sweep(...many(7, 1))
    expect(planned(watch)).toEqual({ looks: [8, 9, 10], sweep: false })
  })

  it("of a list too short to be believed are asked for only as far as it takes to prove it wrong", () => {
    const watch = byHand()
    watch.sweep(...many(50, 1))
    watch.sweep()
    watch.sweep()
    expect(planned(watch)).toEqual({ looks: [1, 2, 3], sweep: false })
  })

  it("that were the last of a small account are settled by one more sweep", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }))
    watch.sweep()
    watch.misses(1)
    expect(planned(watch)).toEqual({ looks: [], sweep: false })
    watch.pass(5000)
    watch.misses(1)
    expect(planned(watch)).toEqual({ looks: [], sweep: true })
  })
})

it("asks for nothing when nothing is open", () => {
  const watch = byHand()
  watch.sweep(...many(10, 1))
  watch.pass(60_000)
  expect(planned(watch)).toEqual({ looks: [], sweep: false })
})
