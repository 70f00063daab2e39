/** The oracle of the catalogue: random histories behind a service that answers wrongly. `oracle.soak.ts` runs thousands. */
import { isSoak } from "@berthkit/testing/chance"
import { describe, expect, it } from "@effect/vitest"
import { complaintsOf, historyOf, judge, watch } from "./history.ts"
import { faultKinds } from "./Service.ts"

const seeds = isSoak ? [1, 2, 3] : [1]

describe("the events about a catalogue", () => {
  it.each(["none", ...faultKinds] as const)(
    "are the truth, once each, and complete where the service has the fault %s",
    (fault) => {
      const kinds = fault === "none" ? [] : [fault]
      const watched = seeds.map((seed) => watch({ seed, kinds, restarts: false, steps: false }))
      expect(watched.flatMap(judge)).toEqual([])
      expect(Math.min(...watched.map(({ facts }) => facts.length))).toBeGreaterThan(5)
    }
  )

  it("are so in random histories with many faults together", () => {
    expect(complaintsOf(1, isSoak ? 12 : 3)).toEqual([])
  })

  it("are the same when a history is repeated", () =>
    expect(watch(historyOf(7)).facts).toEqual(watch(historyOf(7)).facts))
})
