import { assert, describe, it } from "@effect/vitest"
import { peak, type Scenario, simulate } from "./RestartSimulation.ts"

const run = (over: Partial<Scenario>) =>
  simulate({ seed: 1, awayMillis: 0, endMillis: 120_000, callers: 1, hasty: 0, pauseMillis: Infinity, ...over })

const seeds = [1, 2, 3, 4, 5]

/** Retries at once, and each second after that. */
const burst = 35
const perSecond = 20

describe("a restart of the service", () => {
  for (const seconds of [1, 1.2, 2, 3, 5]) {
    for (const callers of [1, 20, 200]) {
      it(`of ${seconds} s fails none of ${callers} calls, each of which ends within a third of its deadline`, () => {
        for (const seed of seeds) {
          const { failed, slowestMillis } = run({ seed, callers, awayMillis: seconds * 1000 })
          assert.strictEqual(failed, 0)
          assert.isBelow(slowestMillis, 20_000)
        }
      })
    }
  }

  it("during which calls of one attempt open the breaker fails none that may be sent again", () => {
    for (const seed of seeds) {
      for (const seconds of [1, 1.2, 2, 3, 5]) {
        const { failed, slowestMillis } = run({ seed, callers: 50, hasty: 30, awayMillis: seconds * 1000 })
        assert.strictEqual(failed, 0)
        assert.isBelow(slowestMillis, 20_000)
      }
    }
  })

  it("is followed by no stampede: the calls that wait go at twenty a second", () => {
    for (const seed of seeds) {
      const { sentAt } = run({ seed, callers: 200, awayMillis: 5000 })
      assert.isAtMost(peak(sentAt, 1000, 5000, 120_000), perSecond + 1)
    }
  })
})

describe("an outage of five minutes", () => {
  const awayMillis = 300_000
  for (const [callers, hasty] of [
    [1, 0],
    [20, 0],
    [200, 0],
    [200, 100]
  ] as const) {
    const { calls, sentAt } = run({ callers, hasty, awayMillis, endMillis: 400_000, pauseMillis: 1000 })
    const during = sentAt.filter((at) => at < awayMillis)

    it(`gets at most ${burst} retries at once and ${perSecond} a second from ${callers} programs, ${hasty} of them hasty`, () => {
      for (let second = 1; second <= 60; second++) {
        const sent = sentAt.filter((at) => at < second * 1000).length
        assert.isAtMost(sent, calls + burst + perSecond * second)
      }
      // Once the breaker has opened twice, it admits only trial calls; in addition, calls are sent that have waited for their turn since
      // the beginning.
      assert.isAtMost(peak(during, 1000, 15_000, 60_000), perSecond + 10)
      assert.isAtMost(during.filter((at) => at >= 60_000).length, 90)
      assert.isAtMost(peak(during, 1000, 60_000, awayMillis), 10)
    })

    it(`is followed by no more requests than ${callers} programs make by themselves`, () => {
      assert.isAtMost(peak(sentAt, 1000, awayMillis, 400_000), 2 * callers + 1)
    })
  }
})
