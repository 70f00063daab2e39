import { describe, expect, it } from "@effect/vitest"
import { aNode } from "./aNode.ts"
import { byHand, type FlatFact } from "./byHand.ts"

const types = (facts: ReadonlyArray<FlatFact>) => facts.map(({ type }) => type)
const nodes = (count: number) => Array.from({ length: count }, (_, index) => aNode({ id: index + 1 }))

/** Answers 404 for each of the nodes, twice, a grace apart. */
const confirm = (watch: ReturnType<typeof byHand>, ...ids: ReadonlyArray<number>) => {
  const first = ids.flatMap((id) => watch.misses(id))
  watch.pass(5000)
  return [...first, ...ids.flatMap((id) => watch.misses(id))]
}

describe("a list too short to be believed", () => {
  it("freezes deletions when three or more nodes, and more than half, are missing at once", () => {
    const watch = byHand()
    watch.sweep(...nodes(5))
    expect(watch.sweep(...nodes(2))).toMatchObject([
      { type: "berth.watch.degraded", trouble: "nodes-vanished", expected: 5, missing: 3 }
    ])
    expect(confirm(watch, 3, 4, 5)).toEqual([])
  })

  it("is not one that lacks half of the nodes, or two", () => {
    const half = byHand()
    half.sweep(...nodes(6))
    expect(half.sweep(...nodes(3))).toEqual([])
    expect(types(confirm(half, 4, 5, 6))).toEqual(["berth.node.deleted", "berth.node.deleted", "berth.node.deleted"])

    const two = byHand()
    two.sweep(...nodes(3))
    expect(two.sweep(...nodes(1))).toEqual([])
    expect(types(confirm(two, 2, 3))).toEqual(["berth.node.deleted", "berth.node.deleted"])
  })

  it("is not one that lacks only nodes seen terminating", () => {
    const watch = byHand()
    watch.sweep(...nodes(5).map((node) => ({ ...node, status: "terminate" as const })))
    expect(watch.sweep()).toEqual([])
    expect(types(confirm(watch, 1, 2, 3, 4, 5))).toEqual(Array.from({ length: 5 }, () => "berth.node.deleted"))
  })

  it("is one that shows the nodes of another account", () => {
    const watch = byHand()
    watch.sweep(...nodes(4))
    const foreign = [50, 51, 52, 53, 54].map((id) => aNode({ id }))
    expect(types(watch.sweep(...foreign))).toEqual([...foreign.map(() => "berth.node.created"), "berth.watch.degraded"])
  })

  it("is plausible again when enough nodes are back, and nothing was deleted", () => {
    const watch = byHand()
    watch.sweep(...nodes(5))
    watch.sweep()
    confirm(watch, 1, 2, 3)
    expect(watch.sweep(...nodes(5))).toMatchObject([
      { type: "berth.watch.recovered", trouble: "list-empty", ending: "plausible" }
    ])
    expect(watch.snapshot.nodes.size).toBe(5)
  })

  it("is believed after the hold, and then each node has to answer 404 anew", () => {
    const watch = byHand()
    watch.sweep(...nodes(5))
    watch.sweep(...nodes(1))
    confirm(watch, 2, 3, 4)
    watch.pass(600_000)
    expect(watch.sweep(...nodes(1))).toMatchObject([
      { type: "berth.watch.recovered", trouble: "nodes-vanished", ending: "persisted" }
    ])
    expect(watch.sweep(...nodes(1))).toEqual([])
    expect(watch.finds(aNode({ id: 2 }))).toEqual([])
    expect(types(confirm(watch, 3, 4, 5))).toEqual(["berth.node.deleted", "berth.node.deleted", "berth.node.deleted"])
  })

  it("is held longer when one of the missing nodes proves alive", () => {
    const watch = byHand()
    watch.sweep(...nodes(5))
    watch.sweep()
    watch.pass(599_000)
    watch.finds(aNode({ id: 1 }))
    watch.pass(1000)
    expect(watch.sweep()).toEqual([])
  })
})

describe("the last nodes of a small account", () => {
  it("are reported deleted when one more empty list follows their 404s, with a warning in between", () => {
    const watch = byHand()
    watch.sweep(...nodes(1))
    expect(watch.sweep()).toMatchObject([
      { type: "berth.watch.degraded", trouble: "list-empty", expected: 1, missing: 1 }
    ])
    expect(confirm(watch, 1)).toEqual([])
    expect(watch.sweep()).toMatchObject([
      { type: "berth.watch.recovered", trouble: "list-empty", ending: "confirmed" },
      { type: "berth.node.deleted", before: { id: 1 } }
    ])
  })

  it("are reported deleted without any warning when they were seen terminating", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "terminate" }))
    expect(watch.sweep()).toEqual([])
    expect(types(confirm(watch, 1))).toEqual(["berth.node.deleted"])
  })

  it("are not reported deleted while they answer, however empty the list", () => {
    const watch = byHand()
    watch.sweep(...nodes(2))
    watch.sweep()
    for (let n = 0; n < 100; n++) {
      watch.pass(30_000)
      watch.finds(aNode({ id: 1 }))
      watch.finds(aNode({ id: 2 }))
      expect(watch.sweep()).toEqual([])
    }
  })

  it("are not reported deleted by an empty list from before their last 404", () => {
    const watch = byHand()
    watch.sweep(...nodes(1))
    watch.sweep()
    watch.misses(1)
    watch.pass(5000)
    const sweep = watch.begin()
    watch.misses(1)
    expect(sweep.end()).toEqual([])
    expect(types(watch.sweep())).toEqual(["berth.watch.recovered", "berth.node.deleted"])
  })
})
