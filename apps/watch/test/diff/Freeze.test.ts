import { describe, expect, it } from "@effect/vitest"
import { defaultRules } from "../../src/diff/Snapshot.ts"
import { aNode, nodeId } from "./aNode.ts"
import { byHand, type ByHand, denyTwice, types } from "./byHand.ts"

const nodes = (count: number) => Array.from({ length: count }, (_, index) => aNode({ id: index + 1 }))
const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** Sweeps that show `shown`, one every 30 s, during `millis`. */
const sweepFor = (watch: ReturnType<typeof byHand>, millis: number, shown: ReturnType<typeof nodes>) =>
  Array.from({ length: millis / 30_000 }, () => {
    watch.pass(30_000)
    return watch.sweep(...shown)
  }).flat()

/** How long a freeze lasts for a node after both a list and a read have shown it missing. */
const heldMillis = defaultRules.holdMillis + defaultRules.graceMillis

/** During the hold and the grace, reads of these nodes answer 404 while sweeps show `shown`; then they answer 404 once more. */
const deleteInFreeze = (watch: ByHand, gone: ReadonlyArray<number>, shown: ReturnType<typeof nodes>) => {
  for (const id of gone) watch.misses(id)
  expect(sweepFor(watch, heldMillis, shown)).toEqual([])
  expect(types(gone.flatMap((id) => watch.misses(id)))).toEqual(gone.map(() => "node.deleted"))
}

describe("a list too short to be believed", () => {
  it("freezes deletions when three or more nodes, and 5 % of the account, are missing at once", () => {
    const watch = byHand()
    watch.baseline(...nodes(60))
    expect(watch.sweep(...nodes(57))).toMatchObject([
      { type: "berth.watch.degraded", trouble: "nodes-vanished", expected: 60, missing: 3 }
    ])
    expect(denyTwice(watch, [58, 59, 60])).toEqual([])
    expect(watch.sweep(...nodes(57))).toEqual([])
  })

  it("is not one that lacks two nodes of many, or less than 5 %", () => {
    for (const [count, lost] of [
      [10, 2],
      [100, 4]
    ] as const) {
      const watch = byHand()
      watch.baseline(...nodes(count))
      expect(watch.sweep(...nodes(count - lost))).toEqual([])
      watch.sweep(...nodes(count - lost))
      const gone = [...denyTwice(watch, ids(count - lost + 1, count)), ...watch.sweep(...nodes(count - lost))]
      expect(types(gone)).toEqual(Array.from({ length: lost }, () => "node.deleted"))
    }
  })

  it("is one that lacks all nodes of an account of two, but not of one", () => {
    const two = byHand()
    two.baseline(...nodes(2))
    expect(two.sweep()).toMatchObject([{ type: "berth.watch.degraded", trouble: "list-empty", missing: 2 }])
    const one = byHand()
    one.baseline(...nodes(1))
    expect(one.sweep()).toEqual([])
  })

  it("is not one that lacks only nodes seen terminating", () => {
    const watch = byHand()
    watch.baseline(...nodes(5).map((node) => ({ ...node, status: "terminate" as const })))
    expect(watch.sweep()).toEqual([])
  })

  it("counts nodes that were lost one after the other within five minutes", () => {
    const watch = byHand()
    watch.baseline(...nodes(10))
    for (const left of [9, 8]) {
      watch.sweep(...nodes(left))
      watch.misses(left + 1)
      watch.pass(30_000)
      watch.sweep(...nodes(left))
      watch.pass(30_000)
      expect(types(watch.misses(left + 1))).toEqual(["node.deleted"])
    }
    expect(watch.sweep(...nodes(7))).toMatchObject([{ type: "berth.watch.degraded", missing: 3, expected: 10 }])
  })

  it.each([
    { within: "five minutes", rules: defaultRules, apartMillis: 120_000, isMany: true },
    { within: "five minutes", rules: defaultRules, apartMillis: 240_000, isMany: false },
    { within: "two sweeps", rules: { ...defaultRules, sweepMillis: 3_600_000 }, apartMillis: 3_000_000, isMany: true },
    { within: "two sweeps", rules: { ...defaultRules, sweepMillis: 3_600_000 }, apartMillis: 4_000_000, isMany: false }
  ])("counts nodes that were lost within $within, $apartMillis ms apart: $isMany", ({ apartMillis, isMany, rules }) => {
    const watch = byHand(rules)
    watch.baseline(...nodes(10))
    const degraded = []
    for (const left of [9, 8, 7]) {
      watch.sweep(...nodes(left))
      denyTwice(watch, [left + 1])
      degraded.push(...watch.sweep(...nodes(left)).filter(({ type }) => type === "berth.watch.degraded"))
      watch.pass(apartMillis - 60_000)
    }
    // A time without a sweep is a separate outage, and no freeze.
    expect(watch.standing.freeze !== null).toBe(isMany)
  })

  it("lacks nodes: reads that answer 404 for nodes it has make none of them missing", () => {
    const watch = byHand()
    watch.baseline(...nodes(10))
    const sweep = watch.begin()
    sweep.page(...nodes(10))
    for (const id of ids(1, 5)) watch.misses(id)
    expect(sweep.end()).toEqual([])
  })

  it("does not freeze because of earlier losses while nothing else is missing", () => {
    const watch = byHand(defaultRules)
    const [first, second, third] = nodes(3)
    watch.baseline(first!, second!, third!)
    watch.sweep(third!)
    watch.sweep(third!)
    expect(types([...denyTwice(watch, [1, 2]), ...watch.sweep(third!)])).toEqual(["node.deleted", "node.deleted"])
    const terminating = { ...third!, status: "terminate" as const }
    expect(types(sweepFor(watch, 300_000, [terminating]))).toEqual(["node.status_changed"])
  })

  it("is measured against the nodes that are not expected to go", () => {
    const watch = byHand()
    const terminating = nodes(100).map((node) => (node.id > 50 ? { ...node, status: "terminate" as const } : node))
    watch.baseline(...terminating)
    expect(watch.sweep(...terminating.slice(3))).toMatchObject([{ type: "berth.watch.degraded", expected: 50 }])
  })

  it("is measured against the nodes that were not deleted in a freeze", () => {
    const watch = byHand()
    watch.baseline(...nodes(100))
    watch.sweep(...nodes(50))
    deleteInFreeze(watch, ids(51, 100), nodes(50))
    expect(types(watch.sweep(...nodes(50)))).toEqual(["watch.recovered"])
    expect(watch.sweep(...nodes(47))).toMatchObject([{ type: "berth.watch.degraded", expected: 50, missing: 3 }])
  })

  it("does not stay frozen for nodes that are expected to go", () => {
    const watch = byHand()
    const terminating = nodes(10).map((node) => (node.id > 5 ? { ...node, status: "terminate" as const } : node))
    watch.baseline(...terminating)
    watch.sweep()
    watch.sweep(...nodes(5))
    expect(watch.standing.freeze).toBeNull()
  })

  it("has persisted when some were deleted, though the last one is back", () => {
    const watch = byHand()
    watch.baseline(...nodes(6))
    watch.sweep(...nodes(1))
    deleteInFreeze(watch, ids(3, 6), nodes(1))
    expect(watch.sweep(...nodes(1))).toEqual([])
    expect(watch.sweep(...nodes(2))).toMatchObject([{ type: "berth.watch.recovered", ending: "persisted" }])
  })

  it("does not count the hold of a node that it has", () => {
    const watch = byHand(defaultRules)
    watch.baseline(...nodes(5))
    watch.pass(900_000)
    const sweep = watch.begin()
    sweep.page(...nodes(5))
    watch.misses(1)
    sweep.end()
    expect([...watch.absences().values()]).toMatchObject([{ lists: 0, lackedMillis: null }])
  })

  it("is plausible again when the nodes are back, and nothing was deleted", () => {
    const watch = byHand()
    watch.baseline(...nodes(5))
    watch.sweep()
    denyTwice(watch, [1, 2, 3])
    expect(watch.sweep(...nodes(5))).toEqual([])
    expect(sweepFor(watch, 30_000, nodes(5))).toEqual([])
    expect(sweepFor(watch, 30_000, nodes(5))).toMatchObject([
      { type: "berth.watch.recovered", trouble: "list-empty", ending: "plausible" }
    ])
  })

  it("is one trouble while nodes vanish and come back again and again, over a restart too", () => {
    const watch = byHand()
    watch.baseline(...nodes(10))
    const storm = () => [5, 10, 0, 10, 4, 10].flatMap((count) => sweepFor(watch, 30_000, nodes(count)))
    expect(types(storm())).toEqual(["watch.degraded"])
    watch.restart()
    expect(storm()).toEqual([])
    const facts = sweepFor(watch, 600_000, nodes(10))
    expect(facts).toMatchObject([{ type: "berth.watch.recovered", trouble: "nodes-vanished", ending: "plausible" }])
    expect(watch.standing.settling).toBeNull()
  })

  it("lets a node be deleted as soon as the others are back, though its end is not reported yet", () => {
    const watch = byHand()
    watch.baseline(...nodes(50))
    watch.sweep(...nodes(10))
    expect(watch.sweep(...nodes(50))).toEqual([])
    watch.sweep(...nodes(49))
    expect(types([...denyTwice(watch, [50]), ...watch.sweep(...nodes(49))])).toContain("node.deleted")
  })

  it("stays frozen while a remainder is missing, however small", () => {
    const watch = byHand()
    watch.baseline(...nodes(5))
    watch.sweep(...nodes(1))
    expect(watch.sweep(...nodes(4))).toEqual([])
    denyTwice(watch, [5])
    expect(watch.sweep(...nodes(4))).toEqual([])
    expect(watch.standing.freeze).not.toBeNull()
    watch.sweep(...nodes(5))
    expect(watch.standing.freeze).toBeNull()
  })

  it("is believed of each node that answers 404 once more, the hold and a grace after list and read denied it", () => {
    const watch = byHand()
    watch.baseline(...nodes(5))
    watch.sweep(...nodes(1))
    denyTwice(watch, [2, 3, 4, 5])
    expect(sweepFor(watch, heldMillis - 60_000, nodes(1))).toEqual([])
    expect(watch.finds(aNode({ id: 2 }))).toEqual([])
    expect(types([3, 4, 5].flatMap((id) => watch.misses(id)))).toEqual([3, 4, 5].map(() => "node.deleted"))
    expect(watch.sweep(...nodes(1))).toEqual([])
    // The nodes that were deleted during the freeze do not count as too many at once.
    expect(watch.sweep(...nodes(2))).toMatchObject([{ type: "berth.watch.recovered", ending: "persisted" }])
    expect(watch.sweep(...nodes(1))).toEqual([])
  })

  it("is not believed of a read that was asked for too early, however late it was answered", () => {
    const watch = byHand()
    watch.baseline(...nodes(5))
    watch.sweep(...nodes(1))
    for (const id of [2, 3, 4, 5]) watch.misses(id)
    sweepFor(watch, heldMillis - 30_000, nodes(1))
    watch.pass(29_999)
    const { asked } = watch.exchange()
    watch.pass(1000)
    const { answered } = watch.exchange()
    expect(watch.observe({ _tag: "NodeMissing", asked, answered, nodeId: nodeId(2) })).toEqual([])
    expect(types(watch.misses(2))).toEqual(["node.deleted"])
  })

  it("lets those be deleted that were missing for so long, while another is not", () => {
    const watch = byHand()
    watch.baseline(...nodes(6))
    watch.sweep(...nodes(2))
    for (const id of ids(3, 6)) watch.misses(id)
    sweepFor(watch, 300_000, nodes(2))
    expect(sweepFor(watch, heldMillis - 300_000, nodes(1))).toEqual([])
    watch.misses(2)
    expect(types(ids(2, 6).flatMap((id) => watch.misses(id)))).toEqual(ids(3, 6).map(() => "node.deleted"))
    expect(watch.standing.freeze).not.toBeNull()
    // Node 2 is there again, so the list was right about the others.
    expect(watch.sweep(...nodes(2))).toMatchObject([{ type: "berth.watch.recovered", ending: "persisted" }])
  })

  it("proves each deletion by reads of that very node, however many are missing", () => {
    const watch = byHand()
    watch.baseline(...nodes(100))
    watch.sweep()
    deleteInFreeze(watch, ids(1, 99), [])
    expect(sweepFor(watch, 3_600_000, [])).toEqual([])
    expect([...watch.snapshot.nodes.keys()]).toEqual([100])
  })

  it("is not believed less of the others when a read shows one of them", () => {
    const watch = byHand()
    watch.baseline(...nodes(100))
    watch.sweep()
    for (const id of ids(1, 99)) watch.misses(id)
    sweepFor(watch, 300_000, [])
    expect(watch.finds(aNode({ id: 100 }))).toEqual([])
    sweepFor(watch, heldMillis - 300_000, [])
    expect(types(ids(1, 99).flatMap((id) => watch.misses(id)))).toEqual(ids(1, 99).map(() => "node.deleted"))
  })

  it("counts what was missing only from the restart on", () => {
    const watch = byHand()
    watch.baseline(...nodes(6))
    watch.sweep(...nodes(2))
    for (const id of ids(3, 6)) watch.misses(id)
    sweepFor(watch, 600_000, nodes(2))
    watch.restart()
    for (const id of ids(3, 6)) watch.misses(id)
    watch.sweep(...nodes(2))
    expect(sweepFor(watch, heldMillis - 30_000, nodes(2))).toEqual([])
    expect(ids(3, 6).flatMap((id) => watch.misses(id))).toEqual([])
    sweepFor(watch, 30_000, nodes(2))
    expect(types(ids(3, 6).flatMap((id) => watch.misses(id)))).toEqual(ids(3, 6).map(() => "node.deleted"))
  })

  it("counts from the end of the sweep that lacked a node, not from its begin, however early a read denied it", () => {
    const watch = byHand()
    watch.baseline(...nodes(5))
    for (const id of [2, 3, 4, 5]) watch.misses(id)
    const sweep = watch.begin()
    watch.pass(300_000)
    sweep.page(...nodes(1))
    sweep.end()
    expect(sweepFor(watch, heldMillis - 30_000, nodes(1))).toEqual([])
    expect(watch.misses(2)).toEqual([])
    sweepFor(watch, 30_000, nodes(1))
    expect(types(watch.misses(2))).toEqual(["node.deleted"])
  })

  it("counts from the first 404, however long the list lacks a node", () => {
    const watch = byHand(defaultRules)
    watch.baseline(...nodes(5))
    sweepFor(watch, 3_600_000, nodes(1))
    expect(watch.misses(2)).toEqual([])
    expect(sweepFor(watch, heldMillis - 30_000, nodes(1))).toEqual([])
    expect(watch.misses(2)).toEqual([])
    sweepFor(watch, 30_000, nodes(1))
    expect(types(watch.misses(2))).toEqual(["node.deleted"])
  })

  it("counts no time without a complete sweep", () => {
    const watch = byHand(defaultRules)
    watch.baseline(...nodes(5))
    watch.sweep(...nodes(1))
    for (const id of [2, 3, 4, 5]) watch.misses(id)
    watch.pass(900_000)
    watch.sweep(...nodes(1))
    expect(sweepFor(watch, heldMillis - 30_000, nodes(1)).filter(({ type }) => type === "berth.node.deleted")).toEqual(
      []
    )
    expect(watch.misses(2)).toEqual([])
    sweepFor(watch, 30_000, nodes(1))
    expect(types(watch.misses(2))).toEqual(["node.deleted"])
  })

  it("is not believed of a read after an outage, before a list shows what is missing still", () => {
    const watch = byHand(defaultRules)
    watch.baseline(...nodes(5))
    watch.sweep(...nodes(1))
    for (const id of [2, 3, 4, 5]) watch.misses(id)
    sweepFor(watch, 120_000, nodes(1))
    watch.pass(1_200_000)
    expect(types(watch.misses(2))).toEqual(["watch.degraded"])
    expect(types(watch.sweep(...nodes(5)))).not.toContain("node.deleted")
    expect(watch.absences().size).toBe(0)
  })

  it("also delays nodes that were expected to go", () => {
    const watch = byHand()
    const terminating = nodes(10).map((node) => (node.id > 9 ? { ...node, status: "terminate" as const } : node))
    watch.baseline(...terminating)
    watch.sweep(...nodes(5))
    watch.sweep(...nodes(5))
    expect(denyTwice(watch, [10])).toEqual([])
    // The other nodes are back.
    expect(types(watch.sweep(...nodes(9)))).toEqual(["node.deleted"])
  })

  it("does not lack nodes whose records have no id that can be read", () => {
    const watch = byHand()
    watch.baseline(...nodes(5))
    const sweep = watch.begin()
    sweep.page(...nodes(2))
    expect(sweep.end(3)).toEqual([])
  })
})
