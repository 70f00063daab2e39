/**
 * The settings of worlds that follow a profile, and the catalogue from the observed image list. Settings that the profile
 * does not have keep their values.
 */
import {
  type Catalogue,
  catalogueWith,
  type CommittedOption,
  type Offer,
  type Plan,
  type PublicImage
} from "../world/catalogue.ts"
import type { WorldSettings } from "../world/WorldSettings.ts"
import { canCount } from "../world/allowance.ts"
import { isObject, type JsonObject, middlesOf, part } from "@berthkit/profile/values"
import type { Profile, Ranges } from "@berthkit/profile/Profile"

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

/** The image of a row. Its id is `fallbackId` if the row has no usable id. */
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

/**
 * The catalogue of the rows: their plans, their images, and which plan and image go together. Undefined if no row has both.
 * A row without a plan or without an image is not in the catalogue, but the image list still shows it.
 */
const catalogueOf = (rows: ReadonlyArray<unknown>): Catalogue | undefined => {
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

/** A smaller difference of the clocks counts as none, because replies take a while. */
const minSkewMillis = 2_000

/** Observed durations as a setting of the lifecycle; no setting if there are none. */
const samplesAs = <Name extends string>(name: Name, ranges: Ranges = []) =>
  ranges.length === 0 ? {} : { [name]: middlesOf(ranges).map(Math.round) }

/**
 * The settings under a profile. `realMillis` is the current real time: if the service's clock is ahead, the world starts
 * ahead of the real time.
 */
export const settingsUnder = ({ behaviour }: Profile, base: WorldSettings, realMillis: number): WorldSettings => {
  const { catalogue, clockSkewMillis = 0, deletes, provisioningMillis, terminationMillis, window } = behaviour
  const rateLimit = {
    limit: window.limit ?? base.rateLimit.limit,
    windowMillis: window.windowMillis ?? base.rateLimit.windowMillis,
    algorithm: window.algorithm ?? base.rateLimit.algorithm
  }
  return {
    ...base,
    startAt: Math.abs(clockSkewMillis) < minSkewMillis ? base.startAt : realMillis + clockSkewMillis,
    lifecycle: {
      ...base.lifecycle,
      ...samplesAs("provisioningSamples", provisioningMillis),
      ...samplesAs("terminationSamples", terminationMillis)
    },
    rateLimit: canCount(rateLimit) ? rateLimit : { ...rateLimit, algorithm: "fixed-window" },
    deleteStyle: deletes === undefined ? base.deleteStyle : deletes.body ? "enveloped" : "documented",
    ...(catalogue !== undefined && { catalogue: catalogueOf(catalogue) ?? base.catalogue })
  }
}
