import { describe, expect, it } from "@effect/vitest"
import { defaultRules } from "../../src/diff/Rules.ts"
import { initialPolling, nextDue, type Plan, type Polling } from "../../src/observe/Schedule.ts"
import { aNode } from "../diff/aNode.ts"
import { byHand } from "../diff/byHand.ts"

const plan: Plan = {
  rules: defaultRules,
  requestsPerHour: 720,
  requestsLeft: 720,
  sweepMillis: null,
  transitionMillis: null
}
const many = (count: number, from = 1) => Array.from({ length: count }, (_, index) => aNode({ id: from + index }))

/** The polling after two sweeps, the last of which began now. */
const after = (watch: ReturnType<typeof byHand>, over: Partial<Polling> = {}): Polling => ({
  ...initialPolling,
  sweeps: 2,
  sweepBegunMillis: watch.now(),
  ...over
})
const due = (watch: ReturnType<typeof byHand>, polling = after(watch), over: Partial<Plan> = {}) => {
  const { dueMillis, ...request } = nextDue(polling, watch.snapshot, { ...plan, ...over })
  return { ...request, inMillis: dueMillis - watch.now() }
}

describe("a small account", () => {
  it("is swept every 10 s, and every 5 s while a node is in transition", () => {
    const watch = byHand()
    watch.baseline(...many(3))
    expect(due(watch)).toEqual({ _tag: "page", inMillis: 9000 })
    watch.sweep(...many(3), aNode({ id: 9, status: "created" }))
    expect(due(watch)).toEqual({ _tag: "page", inMillis: 4750 })
  })

  it("is swept the less often the less of the share is left", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 9, status: "created" }))
    expect(due(watch, after(watch), { requestsLeft: 144 })).toEqual({ _tag: "page", inMillis: 5500 })
    expect(due(watch, after(watch), { requestsLeft: 36 })).toEqual({ _tag: "page", inMillis: 22_000 })
  })

  it("is swept at the interval that is set", () => {
    const watch = byHand()
    watch.baseline(...many(3))
    expect(due(watch, after(watch), { sweepMillis: 60_000 })).toEqual({ _tag: "page", inMillis: 60_000 })
  })
})

describe("before the baseline", () => {
  it("the second sweep follows the first at once, and the nodes that it lacked are read", () => {
    const watch = byHand()
    watch.sweep(...many(3))
    expect(due(watch, after(watch, { sweeps: 1 }))).toEqual({ _tag: "page", inMillis: 0 })
    watch.sweep(...many(2))
    expect(due(watch)).toMatchObject({ _tag: "read", id: 3 })
  })
})

describe("suspects", () => {
  it("are read at once, again after the grace, and then wait for a sweep", () => {
    const watch = byHand()
    watch.baseline(...many(10))
    watch.sweep(...many(9))
    expect(due(watch)).toMatchObject({ _tag: "read", id: 10, inMillis: -Infinity })
    watch.misses(10)
    expect(due(watch, after(watch), { sweepMillis: 600_000 })).toEqual({ _tag: "read", id: 10, inMillis: 60_000 })
    watch.pass(60_000)
    watch.misses(10)
    expect(due(watch, after(watch), { sweepMillis: 600_000 })).toEqual({ _tag: "page", inMillis: 2000 })
  })

  it("are not read before the pause after a failure is over, nor one whose reads fail by themselves", () => {
    const watch = byHand()
    watch.baseline(...many(10))
    watch.sweep(...many(9))
    expect(due(watch, after(watch, { quietUntilMillis: watch.now() + 700 }))).toMatchObject({ inMillis: 700 })
    const unreadable = new Map([[many(10)[9]!.id, watch.now() + 60_000]])
    expect(due(watch, after(watch, { unreadable }))).toMatchObject({ _tag: "page" })
  })

  it("cost dozens of reads when a thousand nodes are gone at once", () => {
    const watch = byHand()
    const terminating = many(1000).map((node) => ({ ...node, status: "terminate" as const }))
    watch.baseline(...terminating)
    let reads = 0
    for (let sweeps = 0; sweeps < 4; sweeps++) {
      watch.sweep()
      watch.pass(5000)
      for (let request = due(watch); request._tag === "read" && request.inMillis <= 0; request = due(watch)) {
        reads++
        watch.misses(request.id)
      }
    }
    expect(watch.snapshot.nodes.size).toBe(0)
    // Each of a sample of sixty twice.
    expect(reads).toBe(120)
  })

  it("that reads show and lists lack are read less and less often", () => {
    const watch = byHand()
    watch.baseline(...many(10))
    let reads = 0
    for (let seconds = 0; seconds < 3600; seconds += 10) {
      watch.pass(10_000)
      watch.sweep(...many(9))
      const request = due(watch)
      if (request._tag === "read" && request.inMillis <= 0) {
        reads++
        watch.finds(aNode({ id: 10 }))
      }
    }
    expect(reads).toBeGreaterThan(10)
    expect(reads).toBeLessThan(25)
  })
})
