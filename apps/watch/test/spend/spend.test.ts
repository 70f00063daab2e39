/**
 * The spending that the daemon knows, compared with an independent integral of what nodes truly cost.
 */
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { dayOf, dayStart, monthOf } from "../../src/spend/calendar.ts"
import { perDay, sumOf } from "../../src/spend/Days.ts"
import { type History, tell, type Told, truthOf } from "./watching.ts"

const history = (over: Partial<History>) =>
  fc.record<History>({
    seed: fc.integer({ min: 0, max: 2 ** 31 }),
    hours: fc.integer({ min: 1, max: 24 * 40 }),
    nodes: fc.integer({ min: 0, max: 12 }),
    hasGaps: fc.constant(over.hasGaps ?? true),
    hasChanges: fc.constant(over.hasChanges ?? true),
    hasUnknown: fc.constant(over.hasUnknown ?? false),
    isExact: fc.constant(over.isExact ?? false),
    hasReturns: fc.constant(over.hasReturns ?? false)
  })

const firstMillis = ({ ledger }: Told) => monthOf(ledger.sinceMillis).fromMillis

/** Each day, and all days together. */
const times = (told: Told) => {
  const from = firstMillis(told)
  const days: Array<readonly [number, number]> = [[from, told.endMillis]]
  for (let day = dayOf(from); dayStart(day) < told.endMillis; day++) {
    days.push([dayStart(day), Math.min(dayStart(day + 1), told.endMillis)])
  }
  return days
}

const spent = ({ days }: Told, [from, to]: readonly [number, number]) => sumOf(perDay(days, from, to))

/** No price is above this, so this limits how much unobserved changes of a node can distort the result. */
const bound = ({ lives, widths }: Told) =>
  55_000_000n * BigInt(widths.reduce((sum, width) => sum + width, 0)) * BigInt(lives.length)

describe("what an account spent", () => {
  it.each([
    ["was not observed", {}],
    // Of a plan without nodes, only the last price is kept.
    ["a false deletion hid", { hasReturns: true, hasChanges: false }]
  ])("is within its bounds, and those no wider than what %s", (_, over) => {
    fc.assert(
      fc.property(history(over), (history) => {
        const told = tell(history)
        const firstDay = dayOf(told.ledger.sinceMillis)
        for (const time of times(told)) {
          const [low, high, , open] = spent(told, time)
          const { total } = truthOf(told, ...time)
          expect(low).toBeLessThanOrEqual(total)
          // Before prices were first read there is no upper bound.
          if (dayOf(time[0]) > firstDay) expect(open).toBe(0n)
          if (open === 0n) expect(high).toBeGreaterThanOrEqual(total)
          expect(high - low).toBeLessThanOrEqual(bound(told))
        }
      }),
      { numRuns: 40 }
    )
  })

  it("is at least what it says where prices are not known, and names no upper bound", () => {
    fc.assert(
      fc.property(history({ hasUnknown: true }), (history) => {
        const told = tell(history)
        for (const time of times(told)) {
          const [low, high, , open] = spent(told, time)
          const { isStated, total } = truthOf(told, ...time)
          expect(low).toBeLessThanOrEqual(total)
          if (open === 0n) expect([isStated, high >= total]).toEqual([true, true])
        }
      }),
      { numRuns: 25 }
    )
  })

  it("is exact to the millisecond where every end and every price was seen when it came", () => {
    fc.assert(
      fc.property(history({ hasGaps: false, hasChanges: false, isExact: true }), (history) => {
        const told = tell({ ...history, hours: Math.min(history.hours, 200) })
        const firstDay = dayOf(told.ledger.sinceMillis)
        for (const time of times(told)) {
          const [low, high] = spent(told, time)
          const { total } = truthOf(told, ...time)
          const slack = 55_000_000n * BigInt(told.lives.length)
          expect(high - low).toBeLessThanOrEqual(told.lives.some(({ isShy }) => isShy) ? bound(told) : slack)
          if (dayOf(time[0]) > firstDay) expect(total - low).toBeLessThanOrEqual(high - low)
        }
      }),
      { numRuns: 15 }
    )
  })

  it("is written only when a node or a price changes", () => {
    fc.assert(
      fc.property(history({}), (history) => {
        expect(tell(history).idleWrites).toBe(0)
      }),
      { numRuns: 10 }
    )
  })
})
