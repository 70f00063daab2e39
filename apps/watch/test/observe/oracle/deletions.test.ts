/**
 * Deletions are reported as promised whatever interval is set, because their proofs come before sweeps more often than promised.
 */
import { isSoak, seed } from "@berthkit/testing/chance"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chanceFrom } from "../../diff/Chance.ts"
import { afterLoss, type Loss } from "./deletions.ts"

const second = 1000
const hour = 3_600_000

/** Requests of a sweep, at most. */
const pagesOf = (size: number) => (size < 100 ? 1 : Math.ceil(size / 87) + 1)

/** What docs/watch-latency.md promises for an account of this size, stretched in proportion if the share is too small. */
const sweepMillis = ({ intervalMillis, requestsPerHour, size }: Omit<Loss, "withinMillis">) => {
  const pages = pagesOf(size)
  const [promised, perHour] =
    size < 100 ? [9 * second, 440] : size <= 3000 ? [(pages * hour) / 150, 550] : [(pages * hour) / 360, 627]
  const kept = requestsPerHour < perHour ? Math.min(113, requestsPerHour / 2) : 0
  return Math.max(promised * Math.max(1, perHour / (requestsPerHour - kept)), intervalMillis ?? 0)
}

/** How long a share that is too small for the promise needs to find room for the reads of the worst mass deletion. */
const roomMillis = ({ requestsPerHour }: Omit<Loss, "withinMillis">) =>
  requestsPerHour < 700 ? (170 * hour) / requestsPerHour : 0

/** How long the requests that sweeps at a set interval have used may be missing. */
const lateMillis = ({ intervalMillis }: Omit<Loss, "withinMillis">) => (intervalMillis === null ? 0 : 300 * second)

/** Two sweeps until the nodes are missing, a hold, twice the grace, and twice two more sweeps. */
const bounded = (loss: Omit<Loss, "withinMillis">): Loss => ({
  ...loss,
  withinMillis:
    6 * sweepMillis(loss) + loss.holdMillis + 2 * loss.graceMillis + 60 * second + roomMillis(loss) + lateMillis(loss)
})

const randomLoss = (run: number): Loss => {
  const chance = chanceFrom(seed + run)
  const one = <A>(...among: ReadonlyArray<A>) => among[chance.below(among.length)]!
  const size = one(40, 90, 230, 400, 1100, 2600)
  return bounded({
    size,
    lost: Math.min(one(1, 5, 19, 25, 43, 70, 200), Math.floor(size / 2)),
    atMillis: one(30 * second, 300 * second, 1800 * second, 4000 * second) + chance.below(60 * second),
    isIll: one(true, false),
    intervalMillis: one(null, 200, 1000, 5000, 15_000, 60_000),
    requestsPerHour: one(180, 360, 720, 720, 3000, 60_000),
    graceMillis: one(2, 10, 60) * second,
    holdMillis: one(15, 120, 600) * second
  })
}

const runs = Array.from({ length: isSoak ? 20 * Number(process.env["RUNS"]) : 24 }, (_, run) => [run] as const)

describe("nodes that vanish at once are reported deleted in time", () => {
  it.effect.each(runs)("history %i", ([run]) =>
    Effect.gen(function* () {
      const loss = randomLoss(run)
      expect({ ...loss, deleted: yield* afterLoss(loss) }).toEqual({ ...loss, deleted: loss.lost })
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
        requestsPerHour: 720,
        graceMillis: 2000,
        holdMillis: 15_000,
        withinMillis: 60_000
      }
      expect(yield* afterLoss(loss)).toBe(43)
    })
  )
})
