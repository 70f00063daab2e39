/**
 * Admission of the real client against the mock service, in virtual time. These trials are a part of the matrix that `pnpm --filter
 * @berthkit/tests matrix` runs as a whole.
 */
import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run, type Trial } from "./Trial.ts"

const minute = 60_000
const windows = isSoak ? 4 : 2

const parts: ReadonlyArray<Pick<Trial, "skewMillis" | "callers">> = [
  { skewMillis: -5 * minute, callers: 20 },
  { skewMillis: 0, callers: 1 },
  { skewMillis: 0, callers: 200 },
  { skewMillis: 5 * minute, callers: 20 }
]

for (const algorithm of ["fixed-window", "sliding-window", "token-bucket"] as const) {
  describe(`in a ${algorithm} of 100 a minute`, () => {
    for (const beside of ["no other client", "another client"] as const) {
      for (const part of parts.filter((_, index) => isSoak || (index % 2 === 0) === (beside === "another client"))) {
        const { callers, skewMillis } = part
        it.live(`${callers} callers, their clock ${skewMillis / minute} min ahead, beside ${beside}`, () =>
          Effect.gen(function* () {
            const allowance = { algorithm, limit: 100, windowMillis: minute }
            const outcome = yield* run({ ...part, allowance, beside, windows, seed: 7 })
            assert.strictEqual(outcome.refusedSteady, 0, "429s after the cold start")
            assert.isAtMost(outcome.refusedCold, 1, "429s of the cold start")
            assert.isAtLeast(outcome.used, 0.97, "share of the allowance that is used")
            assert.isAtMost(outcome.burst, 0.1, "share of the allowance that goes in one second")
          })
        )
      }
    }
  })
}

describe("in windows of odd lengths", () => {
  for (const windowMillis of [47_000, 61_000, 90_500]) {
    it.live(`${windowMillis / 1000} s, beside another client, nothing is refused`, () =>
      Effect.gen(function* () {
        const allowance = { algorithm: "sliding-window", limit: 100, windowMillis } as const
        const outcome = yield* run({
          allowance,
          skewMillis: 0,
          callers: 20,
          beside: "another client",
          windows,
          seed: 7
        })
        assert.strictEqual(outcome.refusedCold + outcome.refusedSteady, 0)
      })
    )
  }
})
