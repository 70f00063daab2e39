import { describe, expect, it } from "@effect/vitest"
import type { Fact } from "../../src/diff/Fact.ts"
import { aNode } from "./aNode.ts"
import { byHand } from "./byHand.ts"

const tags = (facts: ReadonlyArray<Fact>) => facts.map(({ _tag }) => _tag)
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
      { _tag: "Degraded", trouble: "nodes-vanished", expected: 5, missing: 3 }
    ])
    expect(confirm(watch, 3, 4, 5)).toEqual([])
  })

  it("is not one that lacks half of the nodes, or two", () => {
    const half = byHand()
    half.sweep(...nodes(6))
    expect(half.sweep(...nodes(3))).toEqual([])
    expect(tags(confirm(half, 4, 5, 6))).toEqual(["Deleted", "Deleted", "Deleted"])

    const two = byHand()
    two.sweep(...nodes(3))
    expect(two.sweep(...nodes(1))).toEqual([])
    expect(tags(confirm(two, 2, 3))).toEqual(["Deleted", "Deleted"])
  })

  it("is not one that lacks only nodes seen terminating", () => {
    const watch = byHand()
    watch.sweep(...nodes(5).map((node) => ({ ...node, status: "terminate" as const })))
    expect(watch.sweep()).toEqual([])
    expect(tags(confirm(watch, 1, 2, 3, 4, 5))).toEqual(Array.from({ length: 5 }, () => "Deleted"))
  })

  it("is one that shows the nodes of another account", () => {
    const watch = byHand()
    watch.sweep(...nodes(4))
    const foreign = [50, 51, 52, 53, 54].map((id) => aNode({ id }))
    expect(tags(watch.sweep(...foreign))).toEqual([...foreign.map(() => "Created"), "Degraded"])
  })

  it("is plausible again when enough nodes are back, and nothing was deleted", () => {
    const watch = byHand()
    watch.sweep(...nodes(5))
    watch.sweep()
    confirm(watch, 1, 2, 3)
    expect(watch.sweep(...nodes(5))).toMatchObject([{ _tag: "Recovered", trouble: "list-empty", ending: "plausible" }])
    expect(watch.snapshot.nodes.size).toBe(5)
  })

  it("is believed after the hold, and then each node has to answer 404 anew", () => {
    const watch = byHand()
    watch.sweep(...nodes(5))
    watch.sweep(...nodes(1))
    confirm(watch, 2, 3, 4)
    watch.pass(600_000)
    expect(watch.sweep(...nodes(1))).toMatchObject([
      { _tag: "Recovered", trouble: "nodes-vanished", ending: "persisted" }
    ])
    expect(watch.sweep(...nodes(1))).toEqual([])
    expect(watch.finds(aNode({ id: 2 }))).toEqual([])
    expect(tags(confirm(watch, 3, 4, 5))).toEqual(["Deleted", "Deleted", "Deleted"])
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
  it("are told deleted when one more empty list follows their 404s, with a word of warning in between", () => {
    const watch = byHand()
    watch.sweep(...nodes(1))
    expect(watch.sweep()).toMatchObject([{ _tag: "Degraded", trouble: "list-empty", expected: 1, missing: 1 }])
    expect(confirm(watch, 1)).toEqual([])
    expect(watch.sweep()).toMatchObject([
      { _tag: "Recovered", trouble: "list-empty", ending: "confirmed" },
      { _tag: "Deleted", before: { id: 1 } }
    ])
  })

  it("are told deleted without any warning when they were seen terminating", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "terminate" }))
    expect(watch.sweep()).toEqual([])
    expect(tags(confirm(watch, 1))).toEqual(["Deleted"])
  })

  it("are not told deleted while they answer, however empty the list", () => {
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

  it("are not told deleted by an empty list that was asked for before their last 404", () => {
    const watch = byHand()
    watch.sweep(...nodes(1))
    watch.sweep()
    watch.misses(1)
    watch.pass(5000)
    const sweep = watch.begin()
    watch.misses(1)
    expect(sweep.end()).toEqual([])
    expect(tags(watch.sweep())).toEqual(["Recovered", "Deleted"])
  })
})
