import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { makeCatalogue } from "../../src/world/catalogue.ts"

const seeds = fc.integer()

describe("the catalogue of a seed (A19)", () => {
  it("is the same for the same seed, and another for another", () => {
    expect(makeCatalogue(7)).toEqual(makeCatalogue(7))
    expect(makeCatalogue(7).plans).not.toEqual(makeCatalogue(8).plans)
  })

  it("has four series, twelve plans, eight systems with two versions each, whatever the seed", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { images, plans } = makeCatalogue(seed)
        expect(new Set(plans.map(({ series }) => series))).toEqual(new Set(["A", "B", "C", "1CLICK"]))
        expect(new Set(plans.map(({ slug }) => slug)).size).toBe(plans.length)
        expect(plans.length).toBeGreaterThanOrEqual(12)
        const versions = Map.groupBy(
          images.filter(({ version }) => version !== null),
          ({ os }) => os
        )
        expect(versions.size).toBeGreaterThanOrEqual(8)
        for (const ofSystem of versions.values()) {
          expect(new Set(ofSystem.map(({ version }) => version)).size).toBeGreaterThanOrEqual(2)
        }
      })
    )
  })

  it("names its plans in the documented shape, with the numbers the plan has", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        for (const plan of makeCatalogue(seed).plans) {
          const [, vcpus, memoryGb, diskGb] = /^[A-Z]-(\d+)VCPU-(\d+)RAM-(\d+)DISK(?:-1CLICK)?$/.exec(plan.slug)!
          expect([vcpus, memoryGb, diskGb].map(Number)).toEqual([plan.vcpus, plan.memoryGb, plan.diskGb])
        }
      })
    )
  })

  it("has prices that agree: a month is 730 hours, a longer commitment is cheaper by the hour", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        for (const { committed, pricePerHourPaise, pricePerMonthPaise } of makeCatalogue(seed).plans) {
          expect(pricePerMonthPaise).toBe(pricePerHourPaise * 730)
          const hourly = [pricePerHourPaise, ...committed.map(({ days, pricePaise }) => pricePaise / days / 24)]
          expect(hourly).toEqual([...hourly].sort((a, b) => b - a))
        }
      })
    )
  })

  it("offers commitments of 30, 90 and 365 days under ids that no two share", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const options = makeCatalogue(seed).plans.flatMap(({ committed }) => committed)
        expect(new Set(options.map(({ days }) => days))).toEqual(new Set([30, 90, 365]))
        expect(new Set(options.map(({ skuId }) => skuId)).size).toBe(options.length)
      })
    )
  })

  it("starts every image on some plan, and every plan with some image", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { images, offers, plans } = makeCatalogue(seed)
        expect(new Set(offers.map(({ image }) => image))).toEqual(new Set(images))
        expect(new Set(offers.map(({ plan }) => plan))).toEqual(new Set(plans))
      })
    )
  })
})
