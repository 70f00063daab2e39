/**
 * The images and plans of an account as they are known for good, and what only this process saw of them.
 */
import type { Image } from "@berth/core/domain/Image"
import { Schema } from "effect"
import { CatalogueImage, CataloguePlan } from "../CatalogueFact.ts"
import type { Exchange } from "../Observation.ts"

const entryOf = <A extends Schema.Constraint>(item: A) =>
  Schema.Struct({
    item,
    /** How often something was reported of it. */
    version: Schema.Int,
    /** When it was reported removed; null while it is offered. */
    goneMillis: Schema.NullOr(Schema.Int)
  })

/** What is known for good: one value of the store. */
export const Catalogue = Schema.Struct({
  /** Whether changes are reported: what there was already is known. */
  isBaseline: Schema.Boolean,
  /** When the service listed it last; null before the first time. */
  readMillis: Schema.NullOr(Schema.Int),
  images: Schema.Array(entryOf(CatalogueImage)),
  plans: Schema.Array(entryOf(CataloguePlan))
}).annotate({ identifier: "Catalogue" })
export interface Catalogue extends Schema.Schema.Type<typeof Catalogue> {}

const CatalogueJson = Schema.fromJsonString(Schema.toCodecJson(Catalogue))

/** Between a catalogue and its JSON in the store. */
export const writeCatalogue = Schema.encodeSync(CatalogueJson)
export const readCatalogue = Schema.decodeSync(CatalogueJson)

export const unread: Catalogue = { isBaseline: false, readMillis: null, images: [], plans: [] }

/** One reply: the images and plans that the service offered at some moment of the exchange. */
export interface CatalogueRead extends Exchange {
  readonly images: ReadonlyArray<CatalogueImage>
  readonly plans: ReadonlyArray<CataloguePlan>
}

/** What the entries of the image list come to: each image, and each plan with the lowest price that an image has with it. */
export const offeredBy = (list: ReadonlyArray<Image>): Pick<CatalogueRead, "images" | "plans"> => {
  const images = new Map<string, CatalogueImage>()
  const plans = new Map<string, CataloguePlan>()
  for (const { image, name, os, plan, specs } of list) {
    if (!images.has(image)) images.set(image, { image, name, os })
    const { diskGb, memoryMib, pricePerHourInr, pricePerMonthInr, series, vcpus } = specs
    const known = plans.get(plan)
    const own = { plan, vcpus, memoryMib, diskGb, series, pricePerHourInr, pricePerMonthInr }
    plans.set(plan, known === undefined ? own : withLowestPrice(known, own))
  }
  return { images: Array.from(images.values()), plans: Array.from(plans.values()) }
}

/** The order of the list may change; the lowest price of it does not. */
const withLowestPrice = (known: CataloguePlan, other: CataloguePlan): CataloguePlan => ({
  ...known,
  pricePerHourInr: lowest(known.pricePerHourInr, other.pricePerHourInr),
  pricePerMonthInr: lowest(known.pricePerMonthInr, other.pricePerMonthInr)
})

const lowest = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : Math.min(a, b))
