import { describe, expect, it } from "@effect/vitest"
import { makeSnapshot } from "../../src/diff/Snapshot.ts"
import { aNode, nodeId } from "./aNode.ts"
import { byHand } from "./byHand.ts"

describe("the snapshot", () => {
  it("has a node pending no longer once it is reported deleted", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "terminate" }))
    expect(Array.from(watch.snapshot.pending)).toEqual([1])
    watch.misses(1)
    watch.pass(1000)
    watch.misses(1)
    expect(Array.from(watch.snapshot.pending)).toEqual([])
  })

  it("keeps the newest 10 000 tombstones", () => {
    const { apply, snapshot } = makeSnapshot()
    const tombstones = Array.from({ length: 10_002 }, (_, index) => ({
      nodeId: nodeId(index + 1),
      incarnation: 0,
      order: index,
      changes: 0,
      lives: 1
    }))
    apply({ known: [], tombstones, standing: snapshot.standing })
    expect(snapshot.tombstones.size).toBe(10_000)
    expect([1, 2, 3, 10_002].map((id) => snapshot.tombstones.has(nodeId(id)))).toEqual([false, false, true, true])
  })
})
