import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { algorithms } from "@berthkit/profile/algorithms"
import { type RateLimit, make, type Reading, withRateLimit } from "../../src/world/allowance.ts"

const start = 1_767_225_600_000

/** Grants of a run: the requests come after these waits, in milliseconds. */
const run = (policy: RateLimit, waits: ReadonlyArray<number>) => {
  const allowance = make(policy)
  let now = start
  return waits.map((wait): { readonly now: number; readonly reading: Reading } => {
    now += wait
    return { now, reading: allowance.spend(now) }
  })
}

const policies = (algorithm: RateLimit["algorithm"]): fc.Arbitrary<RateLimit> =>
  fc.record({
    limit: fc.integer({ min: 1, max: 40 }),
    windowMillis: fc.integer({ min: 1, max: 5_000 }),
    algorithm: fc.constant(algorithm)
  })

/** Bursts and pauses: mostly requests at once or close to each other, sometimes far apart. */
const waits = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    { weight: 5, arbitrary: fc.nat(50) },
    { weight: 1, arbitrary: fc.nat(6_000) }
  ),
  { maxLength: 300 }
)

/** Of any kind. */
const anyPolicy = fc.oneof(...algorithms.map(policies))

const grantedAt = (steps: ReturnType<typeof run>) => steps.flatMap(({ now, reading }) => (reading.granted ? [now] : []))

/** The most grants in any period `[t, t + windowMillis)`. */
const maxWithin = (instants: ReadonlyArray<number>, windowMillis: number): number => {
  let most = 0
  let first = 0
  instants.forEach((instant, index) => {
    while (instants[first]! <= instant - windowMillis) first += 1
    most = Math.max(most, index - first + 1)
  })
  return most
}

describe("the allowance", () => {
  it("counts down one by one in every kind of window, and refuses when nothing is left", () => {
    for (const algorithm of algorithms) {
      const steps = run({ limit: 3, windowMillis: 60_000, algorithm }, [0, 0, 0, 0, 0])
      expect(steps.map(({ reading }) => [reading.granted, reading.remaining])).toEqual([
        [true, 2],
        [true, 1],
        [true, 0],
        [false, 0],
        [false, 0]
      ])
    }
  })

  it("a fixed window ends at its reset and grants the whole limit anew", () => {
    const steps = run({ limit: 2, windowMillis: 1_000, algorithm: "fixed-window" }, [0, 900, 99, 1, 0, 0])
    expect(steps.map(({ reading }) => reading.granted)).toEqual([true, true, false, true, true, false])
    expect(steps.map(({ reading }) => reading.resetAt - start)).toEqual([1_000, 1_000, 1_000, 2_000, 2_000, 2_000])
  })

  it("a sliding window resets when the oldest request expires", () => {
    const steps = run({ limit: 2, windowMillis: 1_000, algorithm: "sliding-window" }, [0, 400, 599, 1, 0])
    expect(steps.map(({ reading }) => reading.granted)).toEqual([true, true, false, true, false])
    expect(steps.map(({ reading }) => reading.resetAt - start)).toEqual([1_000, 1_000, 1_000, 1_400, 1_400])
  })

  it("a token bucket resets when it is full again, and gives a token back every window/limit", () => {
    const steps = run({ limit: 2, windowMillis: 1_000, algorithm: "token-bucket" }, [0, 0, 499, 1, 0])
    expect(steps.map(({ reading }) => reading.granted)).toEqual([true, true, false, true, false])
    expect(steps.map(({ reading }) => reading.resetAt - start)).toEqual([500, 1_000, 1_000, 1_500, 1_500])
    expect(steps[2]!.reading.retryAt - start).toBe(500)
  })

  it("grants the documented 1200 per hour exactly, also where a token takes three seconds", () => {
    for (const algorithm of algorithms) {
      const steps = run(
        { limit: 1200, windowMillis: 3_600_000, algorithm },
        Array.from({ length: 1300 }, () => 0)
      )
      expect(grantedAt(steps).length).toBe(1200)
    }
  })

  it("fixed window: never more than the limit between one reset and the next", () => {
    fc.assert(
      fc.property(policies("fixed-window"), waits, (policy, w) => {
        const perWindow = new Map<number, number>()
        for (const { reading } of run(policy, w)) {
          if (reading.granted) perWindow.set(reading.resetAt, (perWindow.get(reading.resetAt) ?? 0) + 1)
        }
        expect(Math.max(0, ...perWindow.values())).toBeLessThanOrEqual(policy.limit)
      })
    )
  })

  it("sliding window: never more than the limit in any stretch of the window's length", () => {
    fc.assert(
      fc.property(policies("sliding-window"), waits, (policy, w) => {
        expect(maxWithin(grantedAt(run(policy, w)), policy.windowMillis)).toBeLessThanOrEqual(policy.limit)
      })
    )
  })

  it("token bucket: never more than a full bucket and what flowed in meanwhile, in any stretch", () => {
    fc.assert(
      fc.property(policies("token-bucket"), waits, (policy, w) => {
        const instants = grantedAt(run(policy, w))
        instants.forEach((from, first) =>
          instants.slice(first).forEach((to, index) => {
            const flowedIn = Math.floor(((to - from) * policy.limit) / policy.windowMillis)
            expect(index + 1).toBeLessThanOrEqual(policy.limit + flowedIn)
          })
        )
      }),
      { numRuns: 50 }
    )
  })

  it("under another rate limit has the new limit minus the spent requests, and keeps counting", () => {
    fc.assert(
      fc.property(anyPolicy, anyPolicy, waits, (policy, next, w) => {
        const allowance = make(policy)
        let now = start
        for (const wait of w) allowance.spend((now += wait))
        const before = allowance.peek(now)
        const changed = withRateLimit(allowance, next, now)
        const after = changed.peek(now)
        expect([changed.rateLimit, after.limit]).toEqual([next, next.limit])
        const spent = before.limit - before.remaining
        // If the new window is shorter, it may have ended for some or all of the granted requests.
        if (next.windowMillis < policy.windowMillis) {
          expect(after.remaining).toBeGreaterThanOrEqual(Math.max(0, next.limit - spent))
        } else expect(after.remaining).toBe(Math.max(0, next.limit - spent))
        const granted = Array.from({ length: next.limit + 5 }, () => changed.spend(now)).filter((one) => one.granted)
        expect(granted.length).toBe(after.remaining)
        expect(make(next, changed.state()).peek(now)).toEqual(changed.peek(now))
      })
    )
  })

  it("under the same rate limit gives the same readings", () => {
    fc.assert(
      fc.property(fc.oneof(policies("fixed-window"), policies("sliding-window")), waits, waits, (policy, w, later) => {
        const [one, other] = [make(policy), make(policy)]
        let now = start
        for (const wait of w) {
          now += wait
          one.spend(now)
          other.spend(now)
        }
        const changed = withRateLimit(other, { ...policy }, now)
        for (const wait of later) {
          now += wait
          expect(changed.spend(now)).toEqual(one.spend(now))
        }
      })
    )
  })

  for (const algorithm of algorithms) {
    it(`${algorithm}: a reading comes true`, () => {
      fc.assert(
        fc.property(policies(algorithm), waits, fc.nat(50), (policy, w, extra) => {
          const allowance = make(policy)
          let now = start
          let last: Reading | undefined
          for (const wait of w) {
            now += wait
            last = allowance.spend(now)
          }
          if (last === undefined) return
          expect(last.limit).toBe(policy.limit)
          expect(last.remaining).toBeGreaterThanOrEqual(0)
          expect(last.remaining).toBeLessThan(policy.limit)
          expect(last.resetAt).toBeGreaterThan(now)
          expect(last.resetAt).toBeLessThanOrEqual(now + policy.windowMillis)
          // Exactly as many as remain are granted at once, no more.
          const granted = Array.from({ length: last.remaining + extra }, () => allowance.spend(now)).filter(
            (reading) => reading.granted
          )
          expect(granted.length).toBe(last.remaining)
          // A refusal names the first instant at which the request would be granted.
          const refusal = allowance.spend(now)
          expect(refusal.granted).toBe(false)
          expect(allowance.peek(refusal.retryAt - 1).granted).toBe(false)
          expect(allowance.peek(refusal.retryAt).granted).toBe(true)
        })
      )
    })

    it(`${algorithm}: a refusal costs nothing, and a peek costs nothing (A21)`, () => {
      fc.assert(
        fc.property(policies(algorithm), waits, (policy, w) => {
          const pestered = make(policy)
          const plain = run(policy, w)
          let now = start
          plain.forEach(({ reading }, index) => {
            now += w[index]!
            pestered.peek(now)
            expect(pestered.spend(now)).toEqual(reading)
            if (reading.remaining === 0) expect(pestered.spend(now).granted).toBe(false)
          })
        })
      )
    })
  }
})
