import { describe, expect, it } from "@effect/vitest"
import { isSweepWanted } from "../../src/diff/ListGuard.ts"
import { questions } from "../../src/diff/Question.ts"
import { defaultRules } from "../../src/diff/Snapshot.ts"
import { aNode } from "./aNode.ts"
import { byHand, denyTwice } from "./byHand.ts"

const nodes = (count: number) => Array.from({ length: count }, (_, index) => aNode({ id: index + 1 }))
const open = (watch: ReturnType<typeof byHand>) => questions(watch.snapshot, defaultRules)
const isWanted = (watch: ReturnType<typeof byHand>) => isSweepWanted(watch.snapshot, defaultRules, watch.now())

describe("the reads that are wanted", () => {
  it("are a guess of a node that one list lacks, and a proof of one that two lack", () => {
    const watch = byHand()
    watch.baseline(...nodes(40))
    watch.sweep(...nodes(39))
    expect(open(watch)).toMatchObject([{ id: 40, kind: "guess" }])
    watch.sweep(...nodes(39))
    expect(open(watch)).toMatchObject([{ id: 40, kind: "absent" }])
    watch.misses(40)
    expect(open(watch)).toMatchObject([{ id: 40, kind: "confirm" }])
  })

  it("are a guess of a node that a read shows and lists lack, however many do", () => {
    const watch = byHand()
    watch.baseline(...nodes(40))
    watch.sweep(...nodes(39))
    watch.finds(aNode({ id: 40 }))
    for (let n = 0; n < 5; n++) watch.sweep(...nodes(39))
    expect(open(watch)).toMatchObject([{ id: 40, kind: "guess" }])
  })

  it("no longer include a node that two reads denied", () => {
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
    expect(open(watch)).toMatchObject([{ id: 41, kind: "guess" }])
  })

  it("are one in a freeze once the hold and a grace are over, and none before", () => {
    const watch = byHand()
    watch.baseline(...nodes(40))
    watch.sweep(...nodes(30))
    const begun = watch.now()
    denyTwice(watch, [40])
    const due = () => open(watch).find(({ id }) => id === 40)?.dueMonotonicMillis
    expect(due()).toBeUndefined()
    watch.pass(defaultRules.holdMillis)
    watch.sweep(...nodes(30))
    expect(due()! - begun).toBe(defaultRules.holdMillis + defaultRules.graceMillis)
  })

  it("are twenty of the nodes that a stale list shows, those first that are due first", () => {
    const watch = byHand()
    const gone = nodes(30).map((node) => ({ ...node, status: "terminate" as const }))
    watch.baseline(...gone)
    watch.sweep()
    denyTwice(
      watch,
      gone.map(({ id }) => id),
      5000
    )
    watch.sweep()
    expect(watch.snapshot.gone.size).toBe(30)
    watch.sweep(...gone)
    for (let id = 5; id >= 1; id--) watch.misses(id)
    expect(open(watch).map(({ id }) => Number(id))).toEqual(Array.from({ length: 20 }, (_, index) => index + 6))
  })
})

describe("a sweep", () => {
  it("is wanted for a node that was denied twice, and for none in a freeze before the hold is over", () => {
    const watch = byHand()
    watch.baseline(...nodes(40))
    watch.sweep(...nodes(39))
    expect(isWanted(watch)).toBe(false)
    denyTwice(watch, [40])
    expect(isWanted(watch)).toBe(true)

    const frozen = byHand()
    frozen.baseline(...nodes(40))
    frozen.sweep(...nodes(30))
    denyTwice(frozen, [40])
    expect(isWanted(frozen)).toBe(false)
    frozen.pass(defaultRules.holdMillis - defaultRules.graceMillis)
    expect(isWanted(frozen)).toBe(true)
  })

  it("is not wanted while reads are due that prove more", () => {
    const watch = byHand()
    watch.baseline(...nodes(100))
    watch.sweep(...nodes(98))
    watch.misses(99)
    denyTwice(watch, [100])
    expect(isWanted(watch)).toBe(false)
    watch.misses(99)
    expect(isWanted(watch)).toBe(true)
  })
})
