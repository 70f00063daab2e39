import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { budgetOf, hourly, perHourOf, RequestShare } from "../../src/observe/RequestShare.ts"

const hour = 3_600_000

describe("the share of the requests", () => {
  it("is that part of 1200 requests an hour until the service reports its limit", () => {
    expect(budgetOf(0.6)).toEqual({ requests: 720, windowMillis: hour })
    expect(budgetOf(0.55, { limit: 100, windowMillis: null })).toEqual({ requests: 55, windowMillis: hour })
  })

  it("is that part of the limit that is reported, within the window that is known", () => {
    expect(budgetOf(0.6, { limit: 300, windowMillis: null })).toEqual({ requests: 180, windowMillis: hour })
    expect(budgetOf(0.6, { limit: 100, windowMillis: 60_000 })).toEqual({ requests: 60, windowMillis: 60_000 })
    expect(perHourOf(budgetOf(0.6, { limit: 100_000, windowMillis: hour }))).toBe(60_000)
    expect(budgetOf(0.6, { limit: 1, windowMillis: 60_000 }).requests).toBe(1)
    const huge = budgetOf(0.6, { limit: 10_000_000, windowMillis: hour })
    expect(huge.requests).toBeLessThanOrEqual(100_000)
    expect(perHourOf(huge)).toBeCloseTo(6_000_000)
  })

  it("keeps to each new limit and window from its report on, and is never closed for longer than its pace", () => {
    const budgets = fc.record({
      requests: fc.integer({ min: 1, max: 40 }),
      windowMillis: fc.constantFrom(60_000, hour, 24 * hour)
    })
    const steps = fc.array(
      fc.record({ budget: budgets, pauses: fc.array(fc.integer({ min: 0, max: 600_000 }), { maxLength: 60 }) }),
      { minLength: 1, maxLength: 5 }
    )
    fc.assert(
      fc.property(steps, (all) => {
        const share = new RequestShare(all[0]!.budget)
        let now = 0
        for (const { budget, pauses } of all) {
          const before = share.budget
          share.change(budget, now)
          const isChanged = budget.requests !== before.requests || budget.windowMillis !== before.windowMillis
          if (isChanged)
            expect(share.openAt - now).toBeLessThanOrEqual((budget.windowMillis + 1) / budget.requests + 0.001)
          const sent: Array<number> = []
          for (const pause of pauses) {
            now = Math.max(now + pause, share.openAt)
            share.take(now)
            sent.push(now)
            expect(sent.filter((at) => at >= now - budget.windowMillis).length).toBeLessThanOrEqual(budget.requests)
          }
        }
      }),
      { seed: 7 }
    )
  })

  it("remembers sent requests while its limit changes and changes back", () => {
    const share = new RequestShare(hourly(100))
    for (let n = 0; n < 100; n++) share.take(n)
    share.change(hourly(20), 1000)
    share.change(hourly(100), 2000)
    expect(share.left(2000)).toBeLessThanOrEqual(1)
  })

  it("never lets more requests through within any hour", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.integer({ min: 0, max: 600_000 })),
        (perHour, pauses) => {
          const share = new RequestShare(hourly(perHour))
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

  it("has a second pace that leaves room for additional requests", () => {
    const share = new RequestShare(hourly(10))
    for (let n = 0; n < 5; n++) share.take(n)
    // Five more requests fit into the rest of the hour, or three more next to two of another kind. There is no room for six of another
    // kind.
    expect(share.paceMillis(hour / 2)).toBeCloseTo(hour / 10, -1)
    expect(share.paceMillis(hour / 2, 2)).toBeCloseTo(hour / 8, -1)
    expect(share.paceMillis(hour / 2, 6)).toBe(Infinity)
  })

  it("tells how many additional requests it can sustain", () => {
    const share = new RequestShare(hourly(720))
    expect(share.spare(0, 0)).toBe(720)
    expect(share.spare(0, 550)).toBe(169)
    expect(share.spare(0, 721)).toBeLessThan(0)
    for (let n = 0; n < 100; n++) share.take(n)
    expect(share.spare(1000, 550)).toBe(71)
    expect(share.spare(hour / 2, 550)).toBe(169)
    expect(share.spare(2 * hour, 550)).toBe(169)
  })

  it("has one to spare exactly if its pace leaves room for one", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.integer({ min: 0, max: 600_000 })),
        (total, perHour, pauses) => {
          const share = new RequestShare(hourly(total))
          let now = 0
          for (const pause of pauses) {
            now = Math.max(now + pause, share.openAt)
            share.take(now)
          }
          const hasRoom = share.paceMillis(now, 1) * perHour <= hour
          expect(share.spare(now, perHour) >= 1).toBe(hasRoom)
        }
      ),
      { seed: 7 }
    )
  })

  it("has room for its pace indefinitely, but not for a faster pace", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.integer({ min: 0, max: 600_000 })),
        (perHour, pauses) => {
          const after = () => {
            const share = new RequestShare(hourly(perHour))
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

  it("paces a large share at most a hundredth too slowly", () => {
    const perHour = 20_000
    const share = new RequestShare(hourly(perHour))
    const sent: Array<number> = []
    const now = 3_000_000
    // Requests that come faster and faster, so that their pace differs from the pace of the whole share.
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
