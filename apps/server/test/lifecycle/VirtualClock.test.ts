import { describe, expect, it } from "@effect/vitest"
import { advance, frozenStartMillis, make, now, setMode } from "../../src/lifecycle/VirtualClock.ts"

describe("the clock of a world", () => {
  it("shows the real time in real mode, from the start and later", () => {
    const clock = make("real", 5_000)
    expect([now(clock, 5_000), now(clock, 5_001)]).toEqual([5_000, 5_001])
  })

  it("stands at 2026-01-01T00:00:00.000Z while frozen, whatever the real time", () => {
    const clock = make("frozen", 5_000)
    expect([now(clock, 5_000), now(clock, 9_999_999)]).toEqual([frozenStartMillis, frozenStartMillis])
    expect(frozenStartMillis).toBe(Date.UTC(2026, 0, 1))
  })

  it("runs sixty times as fast at x60, in whole milliseconds", () => {
    const clock = make({ times: 60 }, 1_000)
    expect([now(clock, 1_000), now(clock, 1_001), now(clock, 2_000)]).toEqual([1_000, 1_060, 61_000])
    expect(now(make({ times: 1.5 }, 0), 1)).toBe(1)
  })

  it("is moved on in every mode, and keeps its pace afterwards", () => {
    for (const mode of ["real", "frozen", { times: 60 }] as const) {
      const before = make(mode, 1_000)
      const after = advance(before, 2_000, 30_000)
      expect(now(after, 2_000)).toBe(now(before, 2_000) + 30_000)
      expect(now(after, 2_500) - now(after, 2_000)).toBe(now(before, 2_500) - now(before, 2_000))
    }
  })

  it("has a pace that is a number, and is moved on by one", () => {
    for (const times of [Number.NaN, Number.POSITIVE_INFINITY, -1, 1e7]) {
      expect(() => make({ times }, 0)).toThrow(RangeError)
      expect(() => setMode(make("real", 0), 0, { times })).toThrow(`its factor is ${times}`)
    }
    expect(() => make(undefined as never, 0)).toThrow()
    expect(now(advance(make("frozen", 0), 0, Number.NaN), 0)).toBe(frozenStartMillis)
  })

  it("never goes back by an advance", () => {
    expect(now(advance(make("frozen", 0), 0, -5_000), 0)).toBe(frozenStartMillis)
  })
})
