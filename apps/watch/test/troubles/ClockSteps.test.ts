import { describe, expect, it } from "@effect/vitest"
import { afterReading, type ClockSteps } from "../../src/troubles/ClockSteps.ts"

const minuteMillis = 60_000

/** The step after readings, one a second: how far the clock is set before each. */
const stepAfter = (sets: ReadonlyArray<number>, seconds = 0) => {
  let known: ClockSteps | null = null
  let atMillis = 1_800_000_000_000
  let monotonicMillis = 5000
  const read = () => {
    known = afterReading(known, { atMillis, monotonicMillis })
    atMillis += 1000
    monotonicMillis += 1000
  }
  read()
  for (const millis of [...sets, ...Array.from({ length: seconds }, () => 0)]) {
    atMillis += millis
    read()
  }
  return known!.step?.byMillis ?? null
}

describe("the clock of the machine", () => {
  it("has stepped when it is set, forward or back", () => {
    expect(stepAfter([2 * minuteMillis])).toBe(2 * minuteMillis)
    expect(stepAfter([0, -2 * minuteMillis, 0])).toBe(-2 * minuteMillis)
  })

  it("has not stepped if it is adjusted a little, however often", () => {
    expect(stepAfter(Array.from({ length: 100 }, () => 4000))).toBe(null)
  })

  it("has not stepped if it is set back to its old time", () => {
    expect(stepAfter([2 * minuteMillis, 1000, -2 * minuteMillis])).toBe(null)
  })

  it("keeps the sum of its steps for ten minutes after the last", () => {
    expect(stepAfter([minuteMillis, minuteMillis], 600)).toBe(2 * minuteMillis)
    expect(stepAfter([minuteMillis, minuteMillis], 601)).toBe(null)
  })
})
