import { describe, expect, it } from "@effect/vitest"
import { questions } from "../../src/diff/Question.ts"
import { defaultRules } from "../../src/diff/Snapshot.ts"
import { canFollow, soonestMillis, stuckAfterMillis } from "../../src/diff/Transition.ts"
import { aNode, nodeId } from "./aNode.ts"
import { byHand, denyTwice, types } from "./byHand.ts"

/** Many nodes that stay, so that the loss of one node is plausible. */
const stable = Array.from({ length: 30 }, (_, index) => aNode({ id: 100 + index }))
const hour = 3_600_000

/** Node 1, accepted at `createdAtMillis`, was reported deleted after it changed `changes` times. */
const deleted = (createdAtMillis = 0, changes = 0) => {
  const watch = byHand()
  const node = aNode({ id: 1, createdAtMillis })
  watch.baseline(node, ...stable)
  for (let n = 1; n <= changes; n++) watch.finds({ ...node, name: `name-${n}` })
  watch.sweep(...stable)
  denyTwice(watch, [1])
  expect(types(watch.sweep(...stable))).toEqual(["node.deleted"])
  return watch
}

/** The reads that are wanted because node 1 is seen again: how long until each. */
const returned = (watch: ReturnType<typeof byHand>) =>
  questions(watch.snapshot, defaultRules)
    .filter(({ kind }) => kind === "returned")
    .map(({ dueMonotonicMillis }) => dueMonotonicMillis - watch.now())

describe("a node that was reported deleted", () => {
  it("returns after two reads that show it, even with a list in between", () => {
    const watch = deleted()
    watch.finds(aNode({ id: 1 }))
    watch.sweep(aNode({ id: 1 }), ...stable)
    watch.pass(60_000)
    expect(types(watch.finds(aNode({ id: 1 })))).toEqual(["node.discovered"])
  })

  it("does not return by a read that was sent less than a grace after the first one was answered", () => {
    const watch = deleted()
    watch.finds(aNode({ id: 1 }))
    watch.pass(59_999)
    const { asked } = watch.exchange()
    watch.pass(1000)
    const { answered } = watch.exchange()
    expect(watch.observe({ _tag: "NodeFound", asked, answered, node: aNode({ id: 1 }) })).toEqual([])
  })

  it("is read less and less often while lists show it and reads do not, but at least every hour", () => {
    const watch = deleted()
    const pauses = []
    for (let n = 0; n < 9; n++) {
      watch.sweep(aNode({ id: 1 }), ...stable)
      watch.misses(1)
      pauses.push(...returned(watch))
    }
    expect(pauses.map((millis) => millis / 60_000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
  })

  it("is not asked about any more once lists do not show it, unless a read did", () => {
    const listed = deleted()
    listed.sweep(aNode({ id: 1 }), ...stable)
    expect(returned(listed)).toHaveLength(1)
    for (let n = 0; n < 2; n++) listed.sweep(...stable)
    expect(returned(listed)).toEqual([])

    const found = deleted()
    found.finds(aNode({ id: 1 }))
    for (let n = 0; n < 3; n++) found.sweep(...stable)
    expect(returned(found)).toHaveLength(1)
  })

  it("is not mistaken for an older one of its id that a stale list shows", () => {
    const watch = deleted(500_000)
    for (let n = 0; n < 3; n++) expect(watch.sweep(aNode({ id: 1, createdAtMillis: 0 }), ...stable)).toEqual([])
    expect(watch.finds(aNode({ id: 1, createdAtMillis: 0 }))).toEqual([])
    expect(watch.returning().length).toBe(0)
  })

  it("is forgotten when another one takes its id, which can be missing in its turn", () => {
    const watch = deleted()
    watch.sweep(aNode({ id: 1 }), ...stable)
    const node = aNode({ id: 1, createdAtMillis: watch.pass(1000) })
    expect(types(watch.sweep(node, ...stable))).toEqual(["node.created"])
    watch.misses(1)
    expect(watch.absences().size).toBe(1)
  })

  it("counts its changes on in another life", () => {
    const watch = deleted(0, 2)
    watch.finds(aNode({ id: 1 }))
    watch.pass(60_000)
    watch.finds(aNode({ id: 1 }))
    expect(watch.finds(aNode({ id: 1, name: "other" }))).toMatchObject([
      // The versions of a node of the baseline begin with the instant of the baseline.
      { life: 2, version: 1_000_003 }
    ])
  })
})

describe("an id that another node has taken", () => {
  it("is not under the suspicion of the one before", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    watch.sweep(...stable)
    watch.misses(1)
    watch.sweep(aNode({ id: 1, createdAtMillis: watch.now() }), ...stable)
    expect(watch.absences().has(nodeId(1))).toBe(false)
  })
})

describe("a status", () => {
  it.each([
    ["running", "created", false],
    ["created", "running", true],
    ["running", "power-off", true],
    ["power-off", "running", true],
    ["terminate", "running", false],
    ["terminate", { unknown: "rebooting" }, false],
    ["running", { unknown: "rebooting" }, true],
    [{ unknown: "rebooting" }, "created", true]
  ] as const)("%j can be followed by %j: %s", (from, to, can) => expect(canFollow(from, to)).toBe(can))

  it("that cannot follow is not believed of a read at once", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1, status: "terminate" }))
    watch.sweep(aNode({ id: 1 }))
    watch.pass(4999)
    expect(watch.finds(aNode({ id: 1 }))).toEqual([])
    watch.pass(hour)
    expect(types(watch.finds(aNode({ id: 1 })))).toEqual(["node.status_changed"])
  })
})

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
