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

  it("knows how much of it is left", () => {
    const share = new RequestShare(3)
    share.take(0)
    share.take(1000)
    expect(share.left(1000)).toBe(1)
    expect(share.left(hour + 1)).toBe(2)
    expect(share.left(hour + 1001)).toBe(3)
  })
})
