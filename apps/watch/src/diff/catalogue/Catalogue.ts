/** The stored knowledge about the images and plans of an account, and the content of one reply about them. */
import { ForeignPrice, type Image } from "@berthkit/core/domain/Image"
import { fromImages, type PlanPrice } from "@berthkit/core/domain/Plan"
import { oneOfPrices, type Price, priceKey } from "@berthkit/core/domain/Price"
import { Schema } from "effect"
import { CatalogueImage, CataloguePlan } from "../CatalogueFact.ts"
import type { Exchange } from "../Observation.ts"
import { namesIn, PlanName, planNames, type PlanNames } from "./PlanNames.ts"

const entryOf = <A extends Schema.Constraint>(item: A) =>
  Schema.Struct({
    item,
    /** Number of reports about the entry. */
    version: Schema.Int,
    /** When the entry was reported removed; null while it is offered. */
    goneMillis: Schema.NullOr(Schema.Int)
  })

/** A plan with its price in a currency other than rupees; an amount is null if it is not the same with all images. */
const ForeignPlanPrice = Schema.Struct({ plan: Schema.String, ...ForeignPrice.fields })
type ForeignPlanPrice = typeof ForeignPlanPrice.Type

/** The stored images and plans: one value of the store. */
export const Catalogue = Schema.Struct({
  /** Whether the initial entries are known. Changes are reported only then. */
  isBaseline: Schema.Boolean,
  /** When the catalogue was last read; null before the first read. */
  readMillis: Schema.NullOr(Schema.Int),
  images: Schema.Array(entryOf(CatalogueImage)),
  plans: Schema.Array(entryOf(CataloguePlan)),
  /** Absent while every plan has only one name. */
  names: Schema.optionalKey(Schema.Array(PlanName)),
  /** Prices from the last read that are in another currency; no event reports them. Absent while all prices are in rupees. */
  foreignPrices: Schema.optionalKey(Schema.Array(ForeignPlanPrice))
}).annotate({ identifier: "Catalogue" })
export interface Catalogue extends Schema.Schema.Type<typeof Catalogue> {}

const CatalogueJson = Schema.fromJsonString(Schema.toCodecJson(Catalogue))

/** Converts a catalogue to its JSON in the store. */
export const writeCatalogue = Schema.encodeSync(CatalogueJson)
export const readCatalogue = Schema.decodeSync(CatalogueJson)

export const unread: Catalogue = { isBaseline: false, readMillis: null, images: [], plans: [] }

/** One reply: the images and plans that the service offered at some moment of the exchange. */
export interface CatalogueRead extends Exchange {
  readonly images: ReadonlyArray<CatalogueImage>
  readonly plans: ReadonlyArray<CataloguePlan>
  readonly names?: ReadonlyArray<PlanName>
  readonly foreignPrices?: ReadonlyArray<ForeignPlanPrice>
}

/** The names of the plans in a catalogue. */
export const namesOf = ({ names = [], plans }: Catalogue): PlanNames =>
  planNames(
    names,
    plans.map(({ item }) => item.plan)
  )

/** The price of each image with a plan. */
export const pricesOf = ({ prices }: Pick<CataloguePlan, "prices">): ReadonlyMap<string, Price> => {
  const byImage = new Map<string, Price>()
  for (const { images, ...price } of prices) for (const image of images) byImage.set(image, price)
  return byImage
}

/** The plan with these prices by image. They are sorted, so that the order in the service's list does not matter. */
export const withPrices = (
  plan: Omit<CataloguePlan, "prices" | keyof Price>,
  prices: ReadonlyMap<string, Price>
): CataloguePlan => {
  const groups = new Map<string, { readonly price: Price; readonly images: Array<string> }>()
  for (const image of Array.from(prices.keys()).sort()) {
    const price = prices.get(image)!
    const key = priceKey(price)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { price, images: [image] })
    else group.images.push(image)
  }
  const sorted = Array.from(groups.values(), ({ images, price }): PlanPrice => ({ ...price, images }))
  const price = oneOfPrices(Array.from(groups.values(), ({ price }) => price))
  return { ...plan, ...price, prices: sorted }
}

/** Converts the entries of the image list: each image, and each plan with its prices by image. */
export const offeredBy = (list: ReadonlyArray<Image>): Omit<CatalogueRead, keyof Exchange> => {
  const images = new Map<string, CatalogueImage>()
  for (const { image, name, os } of list) if (!images.has(image)) images.set(image, { image, name, os })
  const offered = fromImages(list)
  const plans = offered.map(({ diskGb, memoryMib, plan, prices, series, vcpus }) =>
    withPrices({ plan, vcpus, memoryMib, diskGb, series }, pricesOf({ prices }))
  )
  const currencies = new Map(
    list.flatMap(({ plan, sku, specs }) =>
      specs.foreignPrice === null ? [] : [[sku ?? plan, specs.foreignPrice.currency] as const]
    )
  )
  const foreignPrices = offered.flatMap(({ foreignPrice, plan }): ReadonlyArray<ForeignPlanPrice> => {
    const currency = currencies.get(plan)
    return currency === undefined ? [] : [{ plan, ...(foreignPrice ?? { currency, perHour: null, perMonth: null }) }]
  })
  return { images: Array.from(images.values()), plans, names: namesIn(list), foreignPrices }
}
