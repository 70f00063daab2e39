import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { choose, type CommitmentSetting, termAt, terminatesAt } from "../../src/lifecycle/CommitmentTerm.ts"

const dayMs = 86_400_000
const month = { skuId: 30, days: 30 }
const quarter = { skuId: 90, days: 90 }

describe("a commitment (decision 17)", () => {
  it("begins a term at once where none is running", () => {
    const commitment = choose(null, "auto_renew", month, 1_000)!
    expect(termAt(commitment, 1_000)).toEqual({ skuId: 30, days: 30, startedAt: 1_000, endsAt: 1_000 + 30 * dayMs })
  })

  it("starts another term at the end under auto_renew, again and again", () => {
    const commitment = choose(null, "auto_renew", month, 0)!
    expect(termAt(commitment, 30 * dayMs - 1)?.startedAt).toBe(0)
    expect(termAt(commitment, 30 * dayMs)?.startedAt).toBe(30 * dayMs)
    expect(termAt(commitment, 365 * dayMs)?.startedAt).toBe(360 * dayMs)
    expect(terminatesAt(commitment)).toBe(Number.POSITIVE_INFINITY)
  })

  it("is dropped at the end under hourly_billing and under auto_terminate, which also ends the node", () => {
    const hourly = choose(null, "hourly_billing", month, 0)!
    expect(termAt(hourly, 30 * dayMs)).toBeNull()
    expect(terminatesAt(hourly)).toBe(Number.POSITIVE_INFINITY)
    const ending = choose(null, "auto_terminate", month, 0)!
    expect(termAt(ending, 30 * dayMs)).toBeNull()
    expect(terminatesAt(ending)).toBe(30 * dayMs)
  })

  it("keeps the running term when another plan is chosen, which is then the next one", () => {
    const first = choose(null, "auto_renew", month, 0)!
    const changed = choose(first, "auto_renew", quarter, 10 * dayMs)!
    expect(termAt(changed, 10 * dayMs)).toMatchObject({ skuId: 30, startedAt: 0 })
    expect(termAt(changed, 30 * dayMs)).toMatchObject({ skuId: 90, startedAt: 30 * dayMs })
  })

  it("may change its mind about the end while the term runs", () => {
    const ending = choose(null, "auto_terminate", month, 0)!
    const kept = choose(ending, "auto_renew", null, 29 * dayMs)!
    expect(terminatesAt(kept)).toBe(Number.POSITIVE_INFINITY)
    expect(termAt(kept, 31 * dayMs)).toMatchObject({ skuId: 30, startedAt: 30 * dayMs })
  })

  it("is nothing where nothing runs and nothing is chosen", () => {
    expect(choose(null, "auto_renew", null, 0)).toBeNull()
    const over = choose(null, "hourly_billing", month, 0)!
    expect(choose(over, "auto_renew", null, 31 * dayMs)).toBeNull()
    expect(choose(over, "auto_renew", month, 31 * dayMs)).toMatchObject({ startedAt: 31 * dayMs })
  })

  it("runs exactly one term at any instant while it renews, and the terms touch", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), fc.nat(3_000), fc.nat(dayMs - 1), (days, atDay, intoDay) => {
        const setting: CommitmentSetting = "auto_renew"
        const commitment = choose(null, setting, { skuId: 1, days }, 0)!
        const now = atDay * dayMs + intoDay
        const running = termAt(commitment, now)!
        expect(running.startedAt <= now && now < running.endsAt).toBe(true)
        expect(termAt(commitment, running.endsAt)?.startedAt).toBe(running.endsAt)
      })
    )
  })
})
