import { describe, expect, it } from "vitest"
import { hearSweep, isSwept, maxSweepAgeMillis } from "../../src/telemetry/freshness.ts"

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

  it("does not depend on how far the clock of the process is from this one that sweeps", () => {
    for (const aheadMillis of [-240_000, 240_000]) {
      const read = (writtenMillis: number, nowMillis: number) => ({ writtenMillis, nowMillis, intervalMillis: 1000 })
      const first = hearSweep(undefined, read(500_000 + aheadMillis, 500_000))
      expect(first.endedMillis, "it may have ended long ago").toBe(null)
      const next = hearSweep(first, read(560_000 + aheadMillis, 561_000))
      expect(next.endedMillis).toBe(561_000)
      expect(hearSweep(next, read(560_000 + aheadMillis, 999_000)), "none was heard of since").toBe(next)
    }
    const agreed = hearSweep(undefined, { writtenMillis: 500_000, nowMillis: 540_000, intervalMillis: null })
    expect(agreed.endedMillis).toBe(500_000)
  })
})
