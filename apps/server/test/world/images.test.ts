import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import { type ImageQuery, listImages, listSavedImages } from "../../src/world/images.ts"
import { populate } from "../../src/world/scenario.ts"
import * as World from "../../src/world/World.ts"
import { defaults } from "../../src/world/WorldSettings.ts"

const world = World.make({ ...defaults, clock: "frozen" }, 0)
populate(world, "small")
const list = (query: ImageQuery) => Result.getOrThrow(listImages(world, query))
const all = list({})

describe("the image list (A18)", () => {
  it("has the public images and the saved ones; image_type in any casing selects either", () => {
    expect(all.length).toBe(world.catalogue.offers.length + 2)
    expect(list({ imageType: "PUBLIC" }).length).toBe(world.catalogue.offers.length)
    expect(list({ imageType: "Private" }).map(({ slug }) => slug)).toEqual(world.savedImages.map(({ slug }) => slug))
    expect(list({ imageType: "" })).toEqual(all)
    expect(Result.isFailure(listImages(world, { imageType: "secret" }))).toBe(true)
  })

  it("narrows by any filters together to exactly the rows that match all of them", () => {
    const row = fc.constantFrom(...all)
    const maybe = <A>(value: fc.Arbitrary<A>) => fc.option(value, { nil: undefined })
    fc.assert(
      fc.property(
        maybe(row.map(({ plan }) => plan.vcpus)),
        maybe(row.map(({ plan }) => plan.memoryGb)),
        maybe(row.map(({ plan }) => plan.series.toLowerCase())),
        maybe(row.map(({ os }) => os.toUpperCase())),
        maybe(row.map(({ version }) => version ?? "")),
        (vcpus, memoryGb, series, os, version) => {
          const expected = all.filter(
            (candidate) =>
              (vcpus === undefined || candidate.plan.vcpus === vcpus) &&
              (memoryGb === undefined || candidate.plan.memoryGb === memoryGb) &&
              (series === undefined || candidate.plan.series.toLowerCase() === series) &&
              (os === undefined || candidate.os.toUpperCase() === os) &&
              (version === undefined || version === "" || candidate.version === version)
          )
          expect(list({ vcpus, memoryGb, series, os, version })).toEqual(expected)
        }
      )
    )
  })

  it("is empty when nothing matches", () => {
    expect(list({ vcpus: 4095 })).toEqual([])
    expect(list({ os: "TempleOS" })).toEqual([])
  })

  it("of saved images is the account's own, and none of them is public", () => {
    expect(Result.getOrThrow(listSavedImages(world, undefined)).length).toBe(2)
    expect(Result.getOrThrow(listSavedImages(world, "private")).length).toBe(2)
    expect(Result.getOrThrow(listSavedImages(world, "public"))).toEqual([])
    expect(Result.isFailure(listSavedImages(world, "secret"))).toBe(true)
  })
})
