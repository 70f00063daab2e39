import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { lastQuarters } from "../src/growth.ts"

/** The growth as the row calculates it. */
const bound = 1.02

const count = 400

/** Samples of a process of 160 MB over a run of length 1, with collections that come and go. */
const samplesOf = (memory: (time: number) => number, seed: number) =>
  Array.from({ length: count }, (_, i) => {
    const collected = (Math.imul(i + seed, 0x9e3779b1) >>> 0) / 2 ** 32
    return (160 + memory(i / count)) * (1 + 0.03 * collected)
  })

const growthOf = (samples: ReadonlyArray<number>) => {
  const { fourth, third } = lastQuarters(samples)
  return fourth / third
}

const seed = fc.nat(1_000_000)

describe("growth of memory under a steady load", () => {
  it("is none while a process warms up, for up to the first half of the run", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 80, noNaN: true }),
        fc.double({ min: 0.01, max: 0.12, noNaN: true }),
        seed,
        (amount, constant, chance) => {
          const samples = samplesOf((time) => amount * (1 - Math.exp(-time / constant)), chance)
          expect(growthOf(samples)).toBeLessThan(bound)
        }
      )
    )
  })

  it("is there when memory leaks, whether from the start or from halfway on", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 30, max: 500, noNaN: true }),
        fc.double({ min: 0, max: 0.5, noNaN: true }),
        seed,
        (leaked, from, chance) => {
          const samples = samplesOf((time) => leaked * Math.max(0, time - from), chance)
          expect(growthOf(samples)).toBeGreaterThan(bound)
        }
      )
    )
  })

  it("cannot be told from fewer than four samples", () => {
    expect(() => lastQuarters([1, 2, 3])).toThrow("3 samples have no quarters")
  })
})
