import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { Expectation } from "@berthkit/core/absence/Absence"
import { nextStep, suspected, take, type Missing } from "../../src/fleet/missing.ts"

/** The service's successive answers about one node: whether the list has it, and whether a read finds it. */
interface Says {
  readonly listed: ReadonlyArray<boolean>
  readonly read: ReadonlyArray<boolean | "fails">
}

/** Asks like `proved`, on a clock that advances only during waits; returns the conclusion and the number of requests. */
const conclude = (said: ReadonlyMap<number, Says>, expected: number, expectation: Expectation = "stays") => {
  let now = 1000
  let missing: Missing = suspected(
    Array.from(said.keys(), (id) => ({ id, expectation })),
    expected,
    now
  )
  const [lists, reads] = [new Map<number, number>(), new Map<number, number>()]
  const answer = <A>(answers: ReadonlyArray<A>, counts: Map<number, number>, id: number, otherwise: A): A => {
    const at = counts.get(id) ?? 0
    counts.set(id, at + 1)
    return answers[at] ?? answers.at(-1) ?? otherwise
  }
  for (let steps = 0; steps < 1000; steps++) {
    const step = nextStep(missing)
    if (step._tag === "Concluded") return { gone: step.gone, waitedMillis: now - 1000, lists, reads }
    now = Math.max(now, step.notBeforeMillis)
    if (step._tag === "List") {
      const ids = new Set(
        Array.from(said).flatMap(([id, { listed }]) => (answer(listed, lists, id, false) ? [id] : []))
      )
      missing = take(missing, { _tag: "Listed", ids, isComplete: true, endedMillis: now })
      continue
    }
    for (const id of step.ids) {
      const found = answer(said.get(id)!.read, reads, id, false)
      missing = take(
        missing,
        found === "fails"
          ? { _tag: "Unread", id }
          : found
            ? { _tag: "Seen", id }
            : { _tag: "Denied", id, askedMillis: now, answeredMillis: now }
      )
    }
  }
  return assert.fail("it asks for ever")
}

const gone: Says = { listed: [false], read: [false] }

describe("a member that the list lacks", () => {
  it("is gone once two lists lack it and two reads a grace apart deny it", () => {
    const { gone: ids, lists, reads, waitedMillis } = conclude(new Map([[1, gone]]), 4)
    assert.deepStrictEqual([[...ids], waitedMillis, lists.get(1), reads.get(1)], [[1], 60_000, 1, 2])
  })

  it("is not gone when one of two reads shows it, or fails, or when the list has it again", () => {
    for (const says of [
      { ...gone, read: [true] },
      { ...gone, read: [false, true] },
      { ...gone, read: ["fails" as const] },
      { ...gone, read: [false, "fails" as const] },
      { ...gone, listed: [true] }
    ]) {
      assert.deepStrictEqual([...conclude(new Map([[1, says]]), 4).gone], [], JSON.stringify(says))
    }
  })

  it("has to stay missing for eleven graces when many are missing at once", () => {
    assert.strictEqual(conclude(new Map([1, 2, 3].map((id) => [id, gone])), 10).waitedMillis, 660_000)
    assert.strictEqual(conclude(new Map([1, 2].map((id) => [id, gone])), 2).waitedMillis, 660_000)
    assert.strictEqual(conclude(new Map([1, 2].map((id) => [id, gone])), 10).waitedMillis, 60_000)
  })

  it("is proved gone by two reads of its own, however many are missing", () => {
    const ids = Array.from({ length: 100 }, (_, i) => i + 1)
    const all = conclude(new Map(ids.map((id) => [id, gone])), 100)
    assert.deepStrictEqual([all.gone.size, new Set(all.reads.values())], [100, new Set([2])])
    const one = conclude(new Map(ids.map((id) => [id, id === 7 ? { ...gone, read: [true] } : gone])), 100)
    assert.deepStrictEqual(one.gone, new Set(ids.filter((id) => id !== 7)))
  })

  it("is gone by one list and one read if it was asked to go, however many were", () => {
    const ids = Array.from({ length: 100 }, (_, i) => i + 1)
    const { gone: all, lists, reads, waitedMillis } = conclude(new Map(ids.map((id) => [id, gone])), 0, "asked")
    assert.deepStrictEqual([all.size, lists.size, waitedMillis], [100, 0, 0])
    assert.deepStrictEqual(new Set(reads.values()), new Set([1]))
  })

  it("is never gone while either path shows it at the end, whatever the service said before", () => {
    const says = fc.record({
      listed: fc.array(fc.boolean(), { maxLength: 3 }),
      read: fc.array(fc.constantFrom<boolean | "fails">(true, false, "fails"), { maxLength: 3 })
    })
    fc.assert(
      fc.property(fc.array(says, { minLength: 1, maxLength: 30 }), (all) => {
        // In the end, the list or the read truthfully shows each existing node.
        const said = new Map(
          all.map(({ listed, read }, i): [number, Says] => [
            i,
            i % 2 === 0 ? { listed: [...listed, true], read } : { listed, read: [...read, true] }
          ])
        )
        const { gone, lists, reads } = conclude(said, all.length)
        for (const id of gone) {
          const { listed, read } = said.get(id)!
          assert.isFalse(listed.slice(0, lists.get(id) ?? 0).includes(true), "it was listed")
          assert.isFalse(read.slice(0, reads.get(id) ?? 0).includes(true), "it was read")
          assert.isAtLeast(reads.get(id)!, 2)
        }
      })
    )
  })
})
