import { describe, expect, it } from "@effect/vitest"
import type { NodeState } from "../../src/diff/Belief.ts"
import { makeSnapshot, unwatched } from "../../src/diff/Snapshot.ts"
import { aNode, nodeId } from "./aNode.ts"
import { byHand, denyTwice } from "./byHand.ts"

const day = 86_400_000
const begun = { order: 1, atMillis: 100 * day, monotonicMillis: 0, serviceMillis: null }
const process = { fingerprint: null, begun }

const state = (over: Partial<NodeState>): NodeState => ({
  node: aNode({ id: 1, status: "created" }),
  incarnation: 0,
  life: 1,
  version: 0,
  seenMillis: 0,
  listed: true,
  statusSinceMillis: 0,
  stuck: false,
  goneMillis: null,
  ...over
})

describe("the time that a node is in its status", () => {
  it.each([
    [begun.atMillis - 1000, -1000],
    // In these two cases, the clock was set.
    [0, -day],
    [begun.atMillis + day, -0]
  ])("goes on over a restart, a day at most: since %i", (statusSinceMillis, since) => {
    const { snapshot } = makeSnapshot({ ...unwatched, nodes: [state({ statusSinceMillis })] }, process)
    expect(snapshot.nodes.get(nodeId(1))!.sinceMonotonicMillis! + 0).toBe(since + 0)
  })
})

describe("what is kept of nodes that are gone", () => {
  it("is a tombstone, of the last hundred thousand", () => {
    const gone = Array.from({ length: 100_002 }, (_, index) => state({ node: aNode({ id: index + 1 }), goneMillis: 1 }))
    const { apply, snapshot } = makeSnapshot({ ...unwatched, nodes: gone }, process)
    const { evidence, standing } = snapshot
    apply({
      nodes: [],
      beliefs: new Map(),
      standing,
      evidence,
      seen: [],
      exchange: { asked: begun, answered: begun },
      counted: []
    })
    expect(snapshot.gone.size).toBe(100_000)
    expect(snapshot.gone.has(nodeId(2))).toBe(false)
  })

  it("is no evidence that they were seen", () => {
    const watch = byHand()
    const stable = Array.from({ length: 30 }, (_, index) => aNode({ id: 100 + index }))
    watch.baseline(aNode({ id: 1 }), ...stable)
    watch.finds(aNode({ id: 1 }))
    watch.sweep(...stable)
    denyTwice(watch, [1])
    watch.sweep(...stable)
    expect(watch.snapshot.gone.has(nodeId(1))).toBe(true)
    expect(watch.snapshot.nodes.has(nodeId(1))).toBe(false)
  })
})
