import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { defaultRequestsPerHour, RequestShare } from "../../src/observe/RequestShare.ts"

const hour = 3_600_000

describe("the share of the requests", () => {
  it("is 60 % of an allowance of 1200", () => expect(defaultRequestsPerHour).toBe(720))

  it("never lets more through within any hour, however they are asked for", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.integer({ min: 0, max: 600_000 })),
        (perHour, pauses) => {
          const share = new RequestShare(perHour)
          const sent: Array<number> = []
          let now = 0
          for (const pause of pauses) {
            now = Math.max(now + pause, share.openAt)
            share.take(now)
            sent.push(now)
            expect(sent.filter((at) => at >= now - hour).length).toBeLessThanOrEqual(perHour)
          }
        }
      ),
      { seed: 7 }
    )
  })

  it("has another pace that leaves room for some besides", () => {
    const share = new RequestShare(10)
    for (let n = 0; n < 5; n++) share.take(n)
    // Five more within the rest of the hour, or three and two besides; six besides are not left.
    expect(share.paceMillis(hour / 2)).toBeCloseTo(hour / 10, -1)
    expect(share.paceMillis(hour / 2, 2)).toBeCloseTo(hour / 8, -1)
    expect(share.paceMillis(hour / 2, 6)).toBe(Infinity)
  })

  it("lasts for twelve minutes at any time at its pace of a burst, which is a minute at most", () => {
    const share = new RequestShare(720)
    expect(share.burstPaceMillis(0)).toBe(1000)
    for (let n = 0; n < 576; n++) share.take(n)
    expect(share.burstPaceMillis(1000)).toBe(5000)
    for (let n = 0; n < 144; n++) share.take(1000)
    expect(share.burstPaceMillis(2000)).toBe(60_000)
    expect(share.burstPaceMillis(2 * hour)).toBe(1000)
  })

  it("has room for its pace for ever, and not for a faster one", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.integer({ min: 0, max: 600_000 })),
        (perHour, pauses) => {
          const after = () => {
            const share = new RequestShare(perHour)
            let now = 0
            for (const pause of pauses) {
              now = Math.max(now + pause, share.openAt)
              share.take(now)
            }
            return { share, now }
          }
          /** How many of the next requests have to wait at this interval. */
          const waiting = (intervalMillis: number) => {
            const { now, share } = after()
            let waits = 0
            for (let n = 1; n <= 2 * perHour; n++) {
              if (share.openAt > now + n * intervalMillis + 0.001) waits++
              share.take(now + n * intervalMillis)
            }
            return waits
          }
          const { now, share } = after()
          const pace = share.paceMillis(now)
          expect(waiting(pace)).toBe(0)
          expect(waiting(pace * 0.99)).toBeGreaterThan(0)
        }
      ),
      { seed: 7 }
    )
  })

  it("has a pace of a large share that is too slow by a hundredth at most", () => {
    const perHour = 20_000
    const share = new RequestShare(perHour)
    const sent: Array<number> = []
    const now = 3_000_000
    // Ever faster, so that the pace is not that of the whole share.
    for (let n = 1; n <= 15_000; n++) {
      sent.push(now * (n / 15_000) ** 0.25)
      share.take(sent.at(-1)!)
    }
    const waits = sent.map((at, n) => (at + hour + 1 - now) / (perHour - sent.length + n + 1))
    const exact = Math.max(hour / perHour, ...waits)
    expect(exact).toBeGreaterThan((1.2 * hour) / perHour)
    expect(share.paceMillis(now)).toBeGreaterThanOrEqual(exact)
    expect(share.paceMillis(now)).toBeLessThanOrEqual(exact * 1.01)
  })
})
