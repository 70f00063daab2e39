import { describe, expect, it } from "@effect/vitest"
import { sweepQuestion } from "../../src/diff/ListGuard.ts"
import { questions } from "../../src/diff/Question.ts"
import { defaultRules } from "../../src/diff/Snapshot.ts"
import { aNode } from "./aNode.ts"
import { byHand, denyTwice } from "./byHand.ts"

const nodes = (count: number) => Array.from({ length: count }, (_, index) => aNode({ id: index + 1 }))
const open = (watch: ReturnType<typeof byHand>) => questions(watch.snapshot, defaultRules)
const sweepIn = (watch: ReturnType<typeof byHand>) => {
  const due = sweepQuestion(watch.snapshot, defaultRules)
  return due === null ? null : due - watch.now()
}

describe("the reads that are wanted", () => {
  it("are none of a node that was denied twice", () => {
    const watch = byHand()
    watch.baseline(...nodes(40))
    watch.sweep(...nodes(39))
    denyTwice(watch, [40])
    expect(open(watch)).toEqual([])
  })

  it("are one of a node in transition that is in doubt, not two", () => {
    const watch = byHand()
    watch.baseline(...nodes(40), aNode({ id: 41, status: "created" }))
    watch.sweep(...nodes(40))
    expect(open(watch)).toMatchObject([{ id: 41, kind: "suspect" }])
  })

  it("are none of those of the wider sample that were denied once", () => {
    const watch = byHand()
    watch.baseline(...nodes(100).map((node) => ({ ...node, status: "terminate" as const })))
    watch.sweep()
    denyTwice(watch, [...watch.snapshot.evidence.batches[0]!.sample], 5000)
    watch.sweep()
    const [first, ...others] = watch.snapshot.evidence.batches[0]!.wider
    watch.misses(first!)
    expect(new Set(open(watch).map(({ id }) => id))).toEqual(new Set(others))
  })

  it("are twenty of the nodes that a stale list shows, those first that are due first", () => {
    const watch = byHand()
    const gone = nodes(30).map((node) => ({ ...node, status: "terminate" as const }))
    watch.baseline(...gone)
    for (let n = 0; n < 5; n++) {
      watch.sweep()
      const { sample = [], wider = [] } = watch.snapshot.evidence.batches[0] ?? {}
      denyTwice(watch, [...sample, ...wider], 5000)
    }
    expect(watch.snapshot.gone.size).toBe(30)
    watch.sweep(...gone)
    for (let id = 5; id >= 1; id--) watch.misses(id)
    expect(open(watch).map(({ id }) => Number(id))).toEqual(Array.from({ length: 20 }, (_, index) => index + 6))
  })
})

describe("a sweep", () => {
  it("is wanted at once for a node that was denied twice, and for none in a freeze", () => {
    const watch = byHand()
    watch.baseline(...nodes(40))
    watch.sweep(...nodes(39))
    expect(sweepIn(watch)).toBeNull()
    denyTwice(watch, [40])
    expect(sweepIn(watch)).toBe(-Infinity)

    const frozen = byHand()
    frozen.baseline(...nodes(40))
    frozen.sweep(...nodes(30))
    denyTwice(frozen, [40])
    expect(sweepIn(frozen)).toBeNull()
  })

  it("is wanted for the others of a batch a grace after the first sweep without them, once its sample is confirmed", () => {
    const watch = byHand()
    const all = nodes(100).map((node) => ({ ...node, status: "terminate" as const }))
    watch.baseline(...all)
    watch.sweep()
    denyTwice(watch, [...watch.snapshot.evidence.batches[0]!.sample], 5000)
    watch.sweep()
    expect(watch.snapshot.nodes.size).toBe(80)
    expect(sweepIn(watch)).toBeNull()
    for (const id of watch.snapshot.evidence.batches[0]!.wider) watch.misses(id)
    expect(sweepIn(watch)).toBe(55_000)
  })
})
