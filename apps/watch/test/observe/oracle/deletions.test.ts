/**
 * Deletions are reported as promised whatever interval is set, because their proofs come before sweeps more often than promised.
 */
import { isSoak, seed } from "@berthkit/testing/chance"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chanceFrom } from "../../diff/Chance.ts"
import { budgetOf, hourly, perHourOf } from "../../../src/observe/RequestShare.ts"
import { proofsMillis } from "../../../src/observe/Schedule.ts"
import { afterLoss, type Loss, noLies } from "./deletions.ts"

const second = 1000
const hour = 3_600_000

/** Requests of a sweep, at most. */
const pagesOf = (size: number) => (size < 100 ? 1 : Math.ceil(size / 87) + 1)

type Asked = Omit<Loss, "withinMillis">

/** By how much all that docs/watch-latency.md promises is stretched where the share is too small for it. */
const stretchOf = ({ budget, size }: Asked) => {
  const requestsPerHour = perHourOf(budget)
  const perHour = size < 100 ? 440 : size <= 3000 ? 550 : 627
  const kept = requestsPerHour < perHour ? Math.min(113, requestsPerHour / 2) : 0
  return Math.max(1, perHour / (requestsPerHour - kept))
}

const sweepMillis = (loss: Asked) => {
  const { intervalMillis, size } = loss
  const promised = size < 100 ? 9 * second : (pagesOf(size) * hour) / (size <= 3000 ? 150 : 360)
  return Math.max(promised * stretchOf(loss), intervalMillis ?? 0)
}

/** A request that fails is sent again, after a pause. */
const againOf = ({ lies }: Asked) => (lies.failing > 0 ? 2 : 1)

/**
 * How long the reads take that prove the deletions. Of an hour's reads, nodes that are there take half while each page lacks others, and
 * the freeze just before may have taken all; sweeps at a set interval may have taken what is beyond those that any hour has room for.
 */
const readsMillis = ({ budget, intervalMillis, isIll, lies, lost }: Asked) => {
  const proofs = proofsMillis(lost * (lies.lacking > 0 ? 2 : 1), budget)
  const isUsed = isIll || lies.lacking > 0 || (intervalMillis !== null && 2 * lost > 113)
  return proofs + (isUsed ? hour : 0)
}

/** How long a share that is too small for the promise needs to find room for the reads of an hour. */
const roomMillis = ({ budget }: Asked) => (perHourOf(budget) < 700 ? (170 * hour) / perHourOf(budget) : 0)

/** How long the requests that sweeps at a set interval have used may be missing. */
const lateMillis = ({ intervalMillis }: Asked) => (intervalMillis === null ? 0 : 300 * second)

/** Two sweeps until the nodes are missing, a hold, twice the grace, and twice two more sweeps. */
const bounded = (loss: Asked): Loss => ({
  ...loss,
  withinMillis:
    loss.lies.staleMillis +
    againOf(loss) *
      (readsMillis(loss) +
        6 * sweepMillis(loss) +
        loss.holdMillis +
        2 * loss.graceMillis +
        60 * second +
        roomMillis(loss) +
        lateMillis(loss))
})

/** A small share, or a window of less than an hour, may have room for nothing but the reads that prove deletions, until they are done. */
const provingMillis = ({ budget }: Asked) =>
  budget.windowMillis < hour || perHourOf(budget) < 700 ? (170 * hour) / perHourOf(budget) : 0

/** Within this a new node is reported, in an account of one page by a sweep. */
const newWithinMillis = (loss: Asked) => {
  const promised = Math.max(10 * second * stretchOf(loss), loss.size < 100 ? (loss.intervalMillis ?? 0) : 0)
  return promised * againOf(loss) * (loss.size >= 100 && loss.lies.hanging > 0 ? 2 : 1) + provingMillis(loss) + second
}

const randomLoss = (run: number): Loss => {
  const chance = chanceFrom(seed + run)
  const one = <A>(...among: ReadonlyArray<A>) => among[chance.below(among.length)]!
  const size = one(40, 90, 97, 230, 400, 1100, 2600, 2990)
  const limit = one(300, 600, 1200, 1200, 5000, 20_000, 100_000)
  return bounded({
    size,
    lost: Math.min(one(1, 5, 19, 25, 43, 70, 200), Math.floor(size / 2)),
    atMillis:
      one(30 * second, 120 * second, 300 * second, 600 * second, 1800 * second, 4000 * second) +
      chance.below(60 * second),
    isIll: one(true, false),
    intervalMillis: one(null, 200, 1000, 5000, 15_000, 60_000),
    budget: budgetOf(one(0.3, 0.6, 0.6, 0.9), { limit, windowMillis: one(hour, hour, 600 * second, 60 * second) }),
    graceMillis: one(2, 10, 60) * second,
    holdMillis: one(15, 120, 600) * second,
    lies: one(noLies, {
      failing: one(0, 0.05, 0.2),
      staleMillis: one(0, 30, 90) * second,
      hanging: one(0, 0, 0.3),
      lacking: one(0, 0, 3),
      lackingOf: one(1, 10)
    }),
    seed: seed + run
  })
}

const runs = Array.from({ length: isSoak ? 20 * Number(process.env["RUNS"]) : 16 }, (_, run) => [run] as const)

describe("nodes that vanish at once are reported deleted in time", () => {
  it.effect.each(runs)("history %i", ([run]) =>
    Effect.gen(function* () {
      const loss = randomLoss(run)
      const { deleted, falsely, newMillis, stepMillis } = yield* afterLoss(loss)
      const isNewInTime = newMillis <= newWithinMillis(loss) + 2 * stepMillis
      expect({ ...loss, deleted, falsely, newMillis, isNewInTime }).toEqual({
        ...loss,
        deleted: loss.lost,
        falsely: [],
        newMillis,
        isNewInTime: true
      })
    })
  )

  it.effect.each([200, 5000])("if sweeps every %i ms do not fit into the share", (intervalMillis) =>
    Effect.gen(function* () {
      const loss = {
        size: 230,
        lost: 43,
        atMillis: 42_000,
        isIll: true,
        intervalMillis,
        budget: hourly(720),
        lies: noLies,
        seed,
        graceMillis: 2000,
        holdMillis: 15_000,
        withinMillis: 60_000
      }
      expect((yield* afterLoss(loss)).deleted).toBe(43)
    })
  )
})
