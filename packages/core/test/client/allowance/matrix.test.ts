import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type Outcome, type Scenario, simulate } from "./Simulation.ts"
import { kinds } from "./windows.ts"

const hour = 3_600_000
const minute = 60_000

const allowances = [
  { limit: 1200, windowMillis: hour },
  { limit: 300, windowMillis: 10 * minute },
  { limit: 100, windowMillis: minute }
]
const skews = [-5 * minute, 0, 5 * minute]
const callers = [1, 20, 200]

const windows = 8
const run = (scenario: Omit<Scenario, "windows" | "seed" | "reserve">): Outcome =>
  simulate({ ...scenario, windows, seed: 7, reserve: 0 })

/** Refusals in the first window, which begins with nothing known, and in all later ones. */
const refusals = ({ refusedAt }: Outcome) => ({
  cold: refusedAt.filter((window) => window < 1).length,
  steady: refusedAt.filter((window) => window >= 1).length
})

for (const kind of kinds) {
  for (const { limit, windowMillis } of allowances) {
    describe(`a ${kind} window of ${limit} in ${windowMillis / minute} minutes`, () => {
      for (const other of ["none", "careful"] as const) {
        for (const skewMillis of skews) {
          for (const many of callers) {
            const beside = other === "none" ? "alone" : "beside another client"
            it(`${many} callers ${beside}, ${skewMillis / minute} minutes off: used up, never exceeded, no burst`, () => {
              const outcome = run({ kind, limit, windowMillis, skewMillis, callers: many, other })
              const { cold, steady } = refusals(outcome)
              assert.strictEqual(steady, 0, "429s in steady state")
              assert.isAtMost(cold, 1, "429s from a cold start")
              assert.isAtLeast(outcome.used, 0.97, "share of the allowance used")
              assert.isAtMost(outcome.burst, 0.1, "share of the allowance in the first second after a reset")
            })
          }
        }
      }

      it("next to a program that ignores its replies: used up, and hardly ever exceeded", () => {
        for (const many of callers) {
          const other = { perWindow: limit / 4 }
          const outcome = run({ kind, limit, windowMillis, skewMillis: 0, callers: many, other })
          const { cold, steady } = refusals(outcome)
          assert.isAtMost(cold, 1)
          assert.isAtMost(steady, windows, "no more than one 429 a window")
          assert.isAtLeast(outcome.used, 0.97)
        }
      })
    })
  }
}

/**
 * Histories of a sliding window in which a process once got a 429. At the reset, only one request had refilled. The process relied on the
 * number that it had last known to be left, but the processes before it had used all of these.
 */
const scarceResets = [
  { limit: 401, windowMillis: 129_262, skewMillis: 0, callers: 3, ownProcesses: 7, seed: -1_043_410_971 },
  { limit: 258, windowMillis: 899_999, skewMillis: -154_601, callers: 11, ownProcesses: 5, seed: -1_138_009_656 },
  { limit: 261, windowMillis: 265_735, skewMillis: -104_095, callers: 15, ownProcesses: 7, seed: 802_543_006 }
]

/** A small bucket of many processes: none sees enough replies to know that it is one, and they wait until it is full. */
const smallShares = [
  { limit: 62, windowMillis: 247_993, skewMillis: 0, callers: 1, ownProcesses: 7, seed: 1_878_092_517 }
]

/**
 * The minimum share of the allowance that the processes use together in the three windows after the first (decision 0177). Each process
 * leaves one request to each other process, and the last requests go in small steps.
 */
const minUsed = (limit: number, processes: number) => 0.9 - (2.5 * processes) / limit

describe("own processes", () => {
  for (const kind of kinds) {
    it(`together never exceed a ${kind} window, and use it`, () => {
      fc.assert(
        fc.property(
          fc.record({
            limit: fc.integer({ min: 60, max: 1200 }),
            // The processes exchange what they know twice a second.
            windowMillis: fc.integer({ min: 20_000, max: 900_000 }),
            skewMillis: fc.integer({ min: -5 * minute, max: 5 * minute }),
            callers: fc.integer({ min: 1, max: 20 }),
            ownProcesses: fc.integer({ min: 1, max: 7 }),
            seed: fc.integer()
          }),
          (scenario) => {
            const { refusedAt, used } = simulate({ ...scenario, kind, other: "none", windows: 4, reserve: 0 })
            assert.deepStrictEqual(refusedAt, [])
            // A request and its reply take 50 ms.
            const could = (scenario.callers * (1 + scenario.ownProcesses) * scenario.windowMillis) / 50
            if (could <= 2 * scenario.limit || scenario.windowMillis < minute) return
            assert.isAtLeast(used, minUsed(scenario.limit, 1 + scenario.ownProcesses))
          }
        ),
        { numRuns: isSoak ? 100 : 10, examples: [...scarceResets, ...smallShares].map((scenario) => [scenario]) }
      )
    })
  }
})

describe("replies that cross, are lost, or report no allowance", () => {
  for (const kind of kinds) {
    it(`never make a client exceed a ${kind} window`, () => {
      fc.assert(
        fc.property(
          fc.record({
            limit: fc.integer({ min: 20, max: 400 }),
            windowMillis: fc.integer({ min: 20_000, max: 900_000 }),
            skewMillis: fc.integer({ min: -5 * minute, max: 5 * minute }),
            callers: fc.integer({ min: 1, max: 50 }),
            lost: fc.double({ min: 0, max: 0.3, noNaN: true }),
            bare: fc.double({ min: 0, max: 0.3, noNaN: true }),
            delayMillis: fc.integer({ min: 10, max: 3000 }),
            outage: fc.record({
              // The outage does not begin before anything is known.
              from: fc.double({ min: 0.5, max: 4, noNaN: true }),
              length: fc.double({ min: 0, max: 2, noNaN: true })
            }),
            seed: fc.integer()
          }),
          (scenario) => {
            const { refusedAt, unreported } = simulate({ ...scenario, kind, other: "none", windows: 4, reserve: 0 })
            // If slots refill one by one, and the reply that would report this is lost, the next request is a guess.
            assert.isAtMost(refusedAt.length, kind === "sliding" ? unreported : 0)
          }
        ),
        { numRuns: isSoak ? 120 : 60 }
      )
    })
  }
})
