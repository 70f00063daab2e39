import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { choose, type CommitmentSetting, termAt, terminatesAt } from "../../src/lifecycle/CommitmentTerm.ts"

const dayMillis = 86_400_000
const month = { skuId: 30, days: 30 }
const quarter = { skuId: 90, days: 90 }

describe("a commitment (A17)", () => {
  it("begins a term at once where none is running", () => {
    const commitment = choose(null, "auto_renew", month, 1_000)!
    expect(termAt(commitment, 1_000)).toEqual({ skuId: 30, days: 30, startedAt: 1_000, endsAt: 1_000 + 30 * dayMillis })
  })

  it("starts another term at the end under auto_renew, again and again", () => {
    const commitment = choose(null, "auto_renew", month, 0)!
    expect(termAt(commitment, 30 * dayMillis - 1)?.startedAt).toBe(0)
    expect(termAt(commitment, 30 * dayMillis)?.startedAt).toBe(30 * dayMillis)
    expect(termAt(commitment, 365 * dayMillis)?.startedAt).toBe(360 * dayMillis)
    expect(terminatesAt(commitment)).toBe(Number.POSITIVE_INFINITY)
  })

  it("is dropped at the end under hourly_billing and under auto_terminate, which also ends the node", () => {
    const hourly = choose(null, "hourly_billing", month, 0)!
    expect(termAt(hourly, 30 * dayMillis)).toBeNull()
    expect(terminatesAt(hourly)).toBe(Number.POSITIVE_INFINITY)
    const ending = choose(null, "auto_terminate", month, 0)!
    expect(termAt(ending, 30 * dayMillis)).toBeNull()
    expect(terminatesAt(ending)).toBe(30 * dayMillis)
  })

  it("keeps the running term when another plan is chosen, which is then the next one", () => {
    const first = choose(null, "auto_renew", month, 0)!
    const changed = choose(first, "auto_renew", quarter, 10 * dayMillis)!
    expect(termAt(changed, 10 * dayMillis)).toMatchObject({ skuId: 30, startedAt: 0 })
    expect(termAt(changed, 30 * dayMillis)).toMatchObject({ skuId: 90, startedAt: 30 * dayMillis })
  })

  it("may change its mind about the end while the term runs", () => {
    const ending = choose(null, "auto_terminate", month, 0)!
    const kept = choose(ending, "auto_renew", null, 29 * dayMillis)!
    expect(terminatesAt(kept)).toBe(Number.POSITIVE_INFINITY)
    expect(termAt(kept, 31 * dayMillis)).toMatchObject({ skuId: 30, startedAt: 30 * dayMillis })
  })

  it("is nothing where nothing runs and nothing is chosen", () => {
    expect(choose(null, "auto_renew", null, 0)).toBeNull()
    const over = choose(null, "hourly_billing", month, 0)!
    expect(choose(over, "auto_renew", null, 31 * dayMillis)).toBeNull()
    expect(choose(over, "auto_renew", month, 31 * dayMillis)).toMatchObject({ startedAt: 31 * dayMillis })
  })

  it("runs exactly one term at any instant while it renews, and the terms touch", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), fc.nat(3_000), fc.nat(dayMillis - 1), (days, atDay, intoDay) => {
        const setting: CommitmentSetting = "auto_renew"
        const commitment = choose(null, setting, { skuId: 1, days }, 0)!
        const now = atDay * dayMillis + intoDay
        const running = termAt(commitment, now)!
        expect(running.startedAt <= now && now < running.endsAt).toBe(true)
        expect(termAt(commitment, running.endsAt)?.startedAt).toBe(running.endsAt)
      })
    )
  })
})
