import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  type Absence,
  absenceQuestion,
  type Circumstance,
  defaultAbsenceRules as rules,
  afterDenial,
  afterGap,
  afterList,
  isDoubted,
  isFrozenAfter
} from "../../src/absence/Absence.ts"

const stays: Circumstance = { expectation: "stays", isFrozen: false, rules }
const goes: Circumstance = { ...stays, expectation: "goes" }
const frozen: Circumstance = { ...stays, isFrozen: true }
const asked: Circumstance = { ...frozen, expectation: "asked" }

/** The evidence after lists that ended at these seconds, and reads that were sent and answered with 404 at these seconds. */
const after = (...inputs: ReadonlyArray<readonly ["list" | "read", number]>): Absence =>
  inputs.reduce<Absence | null>((before, [what, second]) => {
    const millis = second * 1000
    return what === "list"
      ? afterList(before, millis)
      : afterDenial(before, { askedMillis: millis, answeredMillis: millis })
  }, null)!

const list = { _tag: "List", dueMillis: -Infinity }
const listAt = (second: number) => ({ _tag: "List", dueMillis: second * 1000 })
const guess = { _tag: "Read", dueMillis: -Infinity, isFirst: true, isGuess: true }
const first = { ...guess, isGuess: false }
const second = (dueSecond: number) => ({ _tag: "Read", dueMillis: dueSecond * 1000, isFirst: false, isGuess: false })

describe("what proves that a node is gone", () => {
  it.each([
    ["one list", stays, after(["list", 0]), guess],
    ["two lists", stays, after(["list", 0], ["list", 30]), first],
    ["a read", stays, after(["read", 0]), second(60)],
    ["a list and a read", stays, after(["list", 0], ["read", 10]), second(70)],
    ["two reads too close to each other", stays, after(["list", 0], ["read", 10], ["read", 69]), second(70)],
    ["two reads after one list", stays, after(["list", 0], ["read", 10], ["read", 70]), list],
    ["two reads after two lists", stays, after(["list", 0], ["list", 5], ["read", 10], ["read", 70]), list],
    [
      "two reads, and a list since the first",
      stays,
      after(["list", 0], ["read", 10], ["list", 30], ["read", 70]),
      null
    ],
    [
      "two reads of one that is expected to go",
      goes,
      after(["list", 0], ["read", 10], ["list", 12], ["read", 15]),
      null
    ],
    [
      "the same in a freeze",
      { ...goes, isFrozen: true },
      after(["list", 0], ["read", 10], ["list", 12], ["read", 15]),
      listAt(610)
    ],
    ["a read in a freeze", frozen, after(["list", 0], ["read", 10]), listAt(610)],
    ["a read long before the list, in a freeze", frozen, after(["read", 0], ["list", 100]), listAt(700)],
    ["a list after the hold", frozen, after(["list", 0], ["read", 10], ["list", 610]), second(670)],
    [
      "reads that late, but no list",
      frozen,
      after(["list", 0], ["read", 10], ["list", 30], ["read", 2000]),
      listAt(610)
    ],
    ["a read of a listed node, in a freeze", frozen, after(["read", 0]), listAt(Infinity)],
    [
      "two reads so far apart in a freeze",
      frozen,
      after(["list", 0], ["read", 10], ["list", 610], ["read", 670]),
      null
    ],
    ["a list without one that was asked to go", asked, after(["list", 0]), first],
    ["a list and a read of it", asked, after(["list", 0], ["read", 10]), null],
    ["a read of it alone", asked, after(["read", 10]), list]
  ] as const)("%s", (_, circumstance, absence, question) => {
    assert.deepStrictEqual(absenceQuestion(absence, circumstance) as unknown, question)
  })

  it("counts the hold anew after a time in which nothing was observed", () => {
    const absence = afterGap(after(["list", 0], ["read", 10], ["list", 30]), 300_000)
    assert.deepStrictEqual(absenceQuestion(absence, frozen) as unknown, listAt(900))
    assert.deepStrictEqual(absenceQuestion(afterGap(after(["read", 0]), 300_000), stays) as unknown, second(60))
  })

  it("is never less than two lists and two reads of the node so far apart, in any order", () => {
    const inputs = fc.array(fc.tuple(fc.constantFrom("list" as const, "read" as const), fc.nat(120)), { minLength: 1 })
    fc.assert(
      fc.property(inputs, fc.constantFrom(stays, frozen), (steps, circumstance) => {
        let at = 0
        const told = steps.map(([what, pause]) => [what, (at += pause)] as const)
        if (absenceQuestion(after(...told), circumstance) !== null) return
        const [lists, reads] = [told.filter(([what]) => what === "list"), told.filter(([what]) => what === "read")]
        assert.isAtLeast(lists.length, 2)
        assert.isAtLeast(reads.at(-1)![1] - reads[0]![1], circumstance.isFrozen ? 660 : 60)
        assert.isTrue(told.findIndex(([what]) => what === "read") < told.findLastIndex(([what]) => what === "list"))
      })
    )
  })
})

describe("an account", () => {
  it.each([
    [false, { nodes: 60, missing: 3, lost: 0 }, true],
    [false, { nodes: 61, missing: 3, lost: 0 }, false],
    [false, { nodes: 10, missing: 2, lost: 0 }, false],
    [false, { nodes: 2, missing: 2, lost: 0 }, true],
    [false, { nodes: 1, missing: 1, lost: 0 }, false],
    [false, { nodes: 8, missing: 1, lost: 2 }, true],
    [false, { nodes: 8, missing: 0, lost: 3 }, false],
    [true, { nodes: 100, missing: 1, lost: 0 }, true],
    [true, { nodes: 100, missing: 0, lost: 9 }, false]
  ])("that is frozen: %s, with %o, is frozen then: %s", (isFrozen, count, then) => {
    assert.strictEqual(isFrozenAfter(isFrozen, count), then)
  })

  it("counts as missing what lists lack and should stay", () => {
    assert.isTrue(isDoubted(after(["list", 0]), "stays"))
    assert.isFalse(isDoubted(after(["read", 0]), "stays"))
    assert.isFalse(isDoubted(after(["list", 0]), "goes"))
  })
})
