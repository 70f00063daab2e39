import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { backoffMillis } from "../../src/observe/Backoff.ts"
import { defaultRequestsPerHour, fullBucket, requestShares, take } from "../../src/observe/RequestShare.ts"

const hour = 3_600_000

describe("the share of the allowance", () => {
  it("is 60 % of the documented allowance, whole, for sweeps and polls together", () => {
    expect(defaultRequestsPerHour).toBe(0.6 * 1200)
    const { polls, sweeps } = requestShares(defaultRequestsPerHour)
    expect(polls.burst + polls.perHour + sweeps.burst + sweeps.perHour).toBe(defaultRequestsPerHour)
  })

  it("is not exceeded within any hour, whenever requests are due", () => {
    const pause = fc.oneof(
      { weight: 8, arbitrary: fc.constant(0) },
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 60_000 }) },
      { weight: 1, arbitrary: fc.constant(2 * hour) }
    )
    const pauses = fc.array(pause, { maxLength: 300, size: "max" })
    fc.assert(
      fc.property(fc.integer({ min: 60, max: 300 }), pauses, (requestsPerHour, pauses) => {
        const { sweeps } = requestShares(requestsPerHour)
        const sent: Array<number> = []
        let bucket = fullBucket(sweeps, 0)
        let now = 0
        for (const pause of pauses) {
          now += pause
          let { bucket: next, waitMillis } = take(bucket, sweeps, now)
          while (waitMillis > 0) {
            now += waitMillis
            ;({ bucket: next, waitMillis } = take(next, sweeps, now))
          }
          bucket = next
          sent.push(now)
        }
        for (const from of sent) {
          const within = sent.filter((at) => at >= from && at < from + hour).length
          expect(within).toBeLessThanOrEqual(Math.ceil(sweeps.burst + sweeps.perHour))
        }
      }),
      { numRuns: 100, seed: 7 }
    )
  })

  it("lets a sweep of two requests run every 30 seconds for ever", () => {
    const { sweeps } = requestShares(defaultRequestsPerHour)
    let bucket = fullBucket(sweeps, 0)
    for (let now = 0; now < 24 * hour; now += 15_000) {
      const taken = take(bucket, sweeps, now)
      expect(taken.waitMillis).toBe(0)
      bucket = taken.bucket
    }
  })
})

describe("the wait after a failure", () => {
  it("doubles from one second up to a minute, less up to half by chance", () => {
    expect([1, 2, 3, 7, 1000].map((failures) => backoffMillis(failures, 0, null))).toEqual([
      1000, 2000, 4000, 60_000, 60_000
    ])
    expect(backoffMillis(3, 1, null)).toBe(2000)
  })

  it("is never shorter than the service asks for", () => {
    expect(backoffMillis(1, 0.5, 300_000)).toBe(300_000)
    expect(backoffMillis(7, 0, 10)).toBe(60_000)
  })
})
