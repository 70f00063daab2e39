import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { at, call, create, delhi, shapeOf, vector } from "./today.ts"

interface Offer {
  readonly name: string
  readonly plan: string
  readonly os: { readonly version: string }
  readonly specs: { readonly sku_name: string; readonly disk_space: number; readonly price_per_month: number }
  readonly available_inventory_status: boolean
}

const offersOf = (query: Record<string, string | number> = {}, place = delhi) =>
  Effect.map(at(place)("GET", "/images/", { query }), ({ json }): ReadonlyArray<Offer> => json.data)

layer(TestServer.layer({ dialect: "today" }))("the catalogue of today", (it) => {
  it.effect("has prices as numbers, a currency, and the availability of each plan", () =>
    Effect.gen(function* () {
      const { json } = yield* call("GET", "/images/")
      expect(shapeOf(json)).toEqual(shapeOf(vector("images-2026").body))
      expect(json.data.length).toBe(24)
    })
  )

  it.effect("has a slug for each SKU, system and location, in three styles", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* offersOf(), yield* offersOf({}, { ...delhi, location: "Chennai" })]
      const slugs = [...here, ...there].map(({ plan }) => plan)
      expect(new Set(slugs).size).toBe(slugs.length)
      expect(here.every(({ name, plan, specs }) => plan.endsWith("-Delhi") && name === specs.sku_name)).toBe(true)
      const names = new Set(here.map(({ name }) => name))
      const withOwn = here.filter(({ name, plan }) => plan.includes(`-${name}-`))
      const withOther = here.filter(({ name, plan }) =>
        [...names].some((other) => other !== name && plan.includes(`-${other}-`))
      )
      const withNone = here.filter(({ plan }) => plan.includes("-Onetemplate-"))
      expect([withOwn, withOther, withNone].every(({ length }) => length > 0)).toBe(true)
    })
  )

  it.effect("is narrowed by osversion, and not by version, which it does not know", () =>
    Effect.gen(function* () {
      const of = (query: Record<string, string | number>) =>
        Effect.map(offersOf(query), (offers) => new Set(offers.map(({ os }) => os.version)))
      expect([...(yield* of({ osversion: "24.04" }))]).toEqual(["24.04"])
      expect((yield* of({ version: "24.04" })).size).toBe(3)
      expect((yield* offersOf({ cpu: 4, ram: 8, series: "c3", os: "ubuntu" })).map(({ name }) => name)).toEqual([
        "C3.8GB"
      ])
    })
  )

  it.effect("has plans without a monthly price, without a disk, and sold out", () =>
    Effect.gen(function* () {
      const offers = unusual(yield* offersOf())
      expect(offers.noMonth.length * offers.noDisk.length * offers.soldOut.length).toBeGreaterThan(0)
      const soldOut = yield* create("sold-out", { plan: offers.soldOut[0]!.plan })
      expect([soldOut.status, soldOut.json.errors]).toEqual([412, "Plan is not available in this location"])
    })
  )

  it.effect("a plan without a disk needs one in the create", () =>
    Effect.gen(function* () {
      const { noDisk } = unusual(yield* offersOf({ os: "Ubuntu" }))
      const { plan } = noDisk.find((offer) => offer.available_inventory_status)!
      const without = yield* create("diskless", { plan })
      expect([without.status, without.json]).toEqual([400, vector("create-400-disk-required").body])
      const { json } = yield* create("disked", { plan, disk: 150 })
      expect(json.data.disk).toBe("150 GB")
      expect((yield* call("GET", `/nodes/${json.data.id}/`)).json.data.disk).toBe("150 GB")
    })
  )
})

const unusual = (offers: ReadonlyArray<Offer>) => ({
  noMonth: offers.filter(({ specs }) => specs.price_per_month === 0),
  noDisk: offers.filter(({ specs }) => specs.disk_space === 0),
  soldOut: offers.filter((offer) => !offer.available_inventory_status)
})

layer(TestServer.layer({ dialect: "today", catalogue: "whole" }))("the whole catalogue", (it) => {
  it.effect("has about 2000 records, more than 2 MiB, each slug once", () =>
    Effect.gen(function* () {
      const { json, text } = yield* call("GET", "/images/")
      expect(json.data.length).toBeGreaterThan(1_950)
      expect(json.data.length).toBeLessThan(2_100)
      expect(text.length).toBeGreaterThan(2 * 1024 * 1024)
      expect(text.length).toBeLessThan(16 * 1024 * 1024)
      expect(new Set(json.data.map(({ plan }: Offer) => plan)).size).toBe(json.data.length)
      expect((yield* create("in-whole")).status).toBe(200)
    })
  )
})

for (const [catalogue, image] of [
  ["documented", "Ubuntu-24.04"],
  ["short", "Ubuntu-24.04-Distro"]
] as const) {
  layer(TestServer.layer({ dialect: "today", catalogue }))(
    `a saved image without an image, catalogue ${catalogue}`,
    (it) => {
      it.effect("is of the Ubuntu of that catalogue", () =>
        Effect.gen(function* () {
          const { control, id } = yield* TestServer
          const saved = yield* control.savedImages.add({ params: { world: id }, payload: { name: "golden" } })
          expect(saved.image).toBe(image)
        })
      )
    }
  )
}
