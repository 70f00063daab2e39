import { describe, expect, it } from "vitest"
import { isSwept, maxSweepAgeMillis } from "../../src/telemetry/freshness.ts"

describe("the view of an account", () => {
  it("counts as lost after a minute, or two planned sweeps where these are longer", () => {
    const account = (intervalMillis: number | null) => ({
      intervalMillis,
      lastSweep: { endedMillis: 1000 },
      owner: null
    })
    expect([maxSweepAgeMillis(null), maxSweepAgeMillis(10_000), maxSweepAgeMillis(900_000)]).toEqual([
      60_000, 60_000, 1_800_000
    ])
    expect(isSwept(account(10_000), 61_000)).toBe(true)
    expect(isSwept(account(10_000), 61_001)).toBe(false)
    expect(isSwept(account(900_000), 1_801_000)).toBe(true)
    expect(isSwept({ intervalMillis: null, lastSweep: null, owner: null }, 0)).toBe(false)
  })

  it("counts as lost a minute and a sweep later where another process sweeps, which is written down so late", () => {
    const elsewhere = { intervalMillis: 10_000, lastSweep: { endedMillis: 1000 }, owner: { isHere: false } }
    expect(isSwept(elsewhere, 131_000)).toBe(true)
    expect(isSwept(elsewhere, 131_001)).toBe(false)
    expect(isSwept({ ...elsewhere, owner: { isHere: true } }, 61_001)).toBe(false)
  })

  it("is not known to be lost by a store alone, which has no plan", () => {
    expect(isSwept({ intervalMillis: null, lastSweep: { endedMillis: 1000 }, owner: null }, 900_000)).toBe(true)
  })
})
