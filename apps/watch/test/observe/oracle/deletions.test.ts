/**
 * Deletions and new nodes are reported as promised with every interval, because proofs of deletions come before sweeps that are more
 * frequent than promised. The bounds are calculated by hand in `bound.ts`; the test also checks that the numbers in the code agree with
 * them.
 */
import { isSoak } from "@berthkit/testing/chance"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { hourly } from "../../../src/observe/RequestShare.ts"
import { promisedSweepMillis, proofsMillis } from "../../../src/observe/Schedule.ts"
import {
  type Asked,
  deletedWithinMillis,
  maxPromisedPerHour,
  newWithinMillis,
  readsMillis,
  sweepMillis
} from "./bound.ts"
import { afterLoss } from "./deletions.ts"
import { randomLoss, tight, unpaid } from "./losses.ts"

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** The fault after a loss; null if everything is reported in time. */
const complaints = Effect.fnUntraced(function* (asked: Asked, withinMillis = deletedWithinMillis(asked)) {
  const loss = { ...asked, withinMillis }
  const { deletedMillis, falsely, newMillis } = yield* afterLoss(loss)
  const isLate = (deletedMillis.at(-1) ?? Infinity) > loss.withinMillis || deletedMillis.length < loss.lost
  const isNewLate = Math.max(...newMillis) > newWithinMillis(loss)
  return isLate || isNewLate || falsely.length > 0
    ? { loss, newWithinMillis: newWithinMillis(loss), deletedMillis, falsely, newMillis }
    : null
})

const runs = Array.from({ length: isSoak ? 20 * Number(process.env["RUNS"]) : 16 }, (_, run) => [run] as const)

describe("nodes that vanish at once are reported deleted in time, and new ones meanwhile", () => {
  it.effect.each(tight)("%s", ([, loss]) =>
    Effect.gen(function* () {
      expect(yield* complaints(loss)).toBeNull()
    })
  )

  it.effect.each([200, 5000])("within a minute if sweeps every %i ms do not fit into the share", (intervalMillis) =>
    Effect.gen(function* () {
      expect(yield* complaints(unpaid(intervalMillis), minute)).toBeNull()
    })
  )

  it.effect.each(runs)("history %i", ([run]) =>
    Effect.gen(function* () {
      expect(yield* complaints(randomLoss(run))).toBeNull()
    })
  )
})

describe("what the code says that it promises is what the table says", () => {
  const budgets = [90, 180, 300, 360, 720, 1080, 3000, 18_000, 60_000].flatMap((requests) => [
    hourly(requests),
    { requests: requests / 6, windowMillis: 10 * minute },
    { requests: requests / 60, windowMillis: minute }
  ])

  it("of the reads that prove deletions", () => {
    for (const budget of budgets) {
      for (const lost of [1, 20, 84, 86, 200, 1000, 3000]) {
        const said = proofsMillis(lost, budget)
        const byHand = readsMillis(lost, budget, { promised: maxPromisedPerHour })
        expect({ budget, lost, said, isLater: said >= byHand }).toEqual({ budget, lost, said, isLater: true })
        expect(said - byHand).toBeLessThanOrEqual(budget.windowMillis)
      }
    }
  })

  it("of sweeps", () => {
    for (const budget of budgets) {
      for (const size of [40, 230, 1100, 2990]) {
        for (const intervalMillis of [null, 3 * hour]) {
          const said = promisedSweepMillis(size, intervalMillis, budget)
          const byHand = sweepMillis(size, intervalMillis, budget)
          expect(said / byHand).toBeCloseTo(1, 2)
        }
        expect(promisedSweepMillis(size, 200, budget)).toBeLessThan(sweepMillis(size, 200, budget) + second)
      }
    }
  })
})
