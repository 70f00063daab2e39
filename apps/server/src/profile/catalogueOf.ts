/**
 * The catalogue of a world from an image list that was observed: its plans, its images, and which go together. A row that
 * names no plan or no image is left out of it, and still listed.
 */
import {
  type Catalogue,
  catalogueWith,
  type CommittedOption,
  type Offer,
  type Plan,
  type PublicImage
} from "../world/catalogue.ts"
import { isObject, type JsonObject, part } from "./values.ts"

const number = (value: unknown): number => {
  const read = typeof value === "number" ? value : Number.parseFloat(String(value ?? ""))
  return Number.isFinite(read) && read >= 0 ? read : 0
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const paise = (rupees: unknown): number => Math.round(number(rupees) * 100)

const optionsOf = (specs: JsonObject): ReadonlyArray<CommittedOption> => {
  const { committed_sku: list } = specs
  return (Array.isArray(list) ? list : []).filter(isObject).flatMap((sku) => {
    const skuId = number(sku["committed_sku_id"])
    const days = number(sku["committed_days"])
    return skuId < 1 || days < 1 || days > 3650
      ? []
      : [{ skuId, days, name: text(sku["committed_sku_name"]) ?? "", pricePaise: paise(sku["committed_sku_price"]) }]
  })
}

const planOf = (row: JsonObject): Plan | undefined => {
  const slug = text(row["plan"]) ?? text(row["size"])
  const specs = part(row, "specs")
  return slug === undefined
    ? undefined
    : {
        slug,
        series: text(specs["series"]) ?? slug[0]!,
        vcpus: number(specs["cpu"]),
        memoryGb: number(specs["ram"]),
        diskGb: number(specs["disk_space"]),
        pricePerHourPaise: paise(specs["price_per_hour"]),
        pricePerMonthPaise: paise(specs["price_per_month"]),
        minimumBillingPaise: paise(specs["minimum_billing_amount"]),
        committed: optionsOf(specs)
      }
}

const firstImageId = 1000

/** An image of a row; `fallbackId` where the row has none. */
const imageOf = (row: JsonObject, fallbackId: number): PublicImage | undefined => {
  const slug = text(row["image"])
  const os = part(row, "os")
  const id = /^\d{1,9}$/.test(String(os["image"])) ? Number(os["image"]) : fallbackId
  return slug === undefined
    ? undefined
    : {
        id: id < 1 ? fallbackId : id,
        slug,
        name: text(row["name"]) ?? slug,
        os: text(os["name"]) ?? "",
        version: text(os["version"]) ?? null
      }
}

/** The catalogue, or undefined where no row has a plan and an image. */
export const catalogueOf = (rows: ReadonlyArray<unknown>): Catalogue | undefined => {
  const planBySlug = new Map<string, Plan>()
  const imageBySlug = new Map<string, PublicImage>()
  const offers: Array<Offer> = []
  for (const row of rows.filter(isObject)) {
    const found = { plan: planOf(row), image: imageOf(row, firstImageId + imageBySlug.size) }
    if (found.plan === undefined || found.image === undefined) continue
    const plan = planBySlug.get(found.plan.slug) ?? found.plan
    const image = imageBySlug.get(found.image.slug) ?? found.image
    planBySlug.set(plan.slug, plan)
    imageBySlug.set(image.slug, image)
    offers.push({ image, plan })
  }
  if (offers.length === 0) return undefined
  return catalogueWith([...planBySlug.values()], [...imageBySlug.values()], offers)
}
