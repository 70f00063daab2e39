/**
 * A plan: size, price, availability, and one column per committed period.
 */
import type { Image } from "@berthkit/core/domain/Image"
import { fromImages, Plan as CorePlan, type PlanOption, PlanSlug } from "@berthkit/core/domain/Plan"
import { Schema } from "effect"
import { foreignAmount, nothing, plain, rupees, textOr } from "../output/format.ts"
import { type Field, jsonOf, type RecordDescriptor } from "../output/RecordDescriptor.ts"
import { anyPricePerHour, anyPricePerMonth, minimumCharge, priceText } from "./price.ts"
import { diskGb, memoryMib, vcpus } from "./size.ts"

const isAvailable = (description: string) => Schema.NullOr(Schema.Boolean).annotate({ description })

/** A plan in the output of commands. */
const Plan = Schema.Struct({
  ...CorePlan.fields,
  slugs: Schema.Array(
    Schema.Struct({
      ...PlanSlug.fields,
      available: isAvailable("Whether it can be ordered now; null if the service does not say.")
    })
  ),
  available: isAvailable("Whether it can be ordered now, with at least one image; null if the service does not say.")
}).annotate({ identifier: "Plan" })
export interface Plan extends Schema.Schema.Type<typeof Plan> {}

/** True if one of these is available; false if it is certain that none is; otherwise null. */
const anyAvailable = (all: ReadonlyArray<boolean | null>): boolean | null =>
  all.includes(true) ? true : all.length > 0 && all.every((each) => each === false) ? false : null

/** The plans in a list of images, in order of first appearance. */
export const plansOf = (images: ReadonlyArray<Image>): ReadonlyArray<Plan> => {
  const keyOf = ({ image, plan }: { readonly image: string; readonly plan: string }) => JSON.stringify([plan, image])
  const records = Map.groupBy(images, keyOf)
  return fromImages(images).map((plan) => {
    const slugs = plan.slugs.map((each) => {
      const own = records.get(keyOf({ image: each.image, plan: each.slug })) ?? []
      return { ...each, available: anyAvailable(own.map(({ available }) => available)) }
    })
    return { ...plan, slugs, available: anyAvailable(slugs.map(({ available }) => available)) }
  })
}

/** Whether the plan is available. Only today's API reports this. */
const available: Field<Plan> = {
  key: "available",
  title: "AVAILABLE",
  value: ({ available, slugs }) =>
    available === true && slugs.some((each) => each.available !== true) ? "some" : plain(available),
  dropOrder: 2
}

const statesAvailable = (plans: ReadonlyArray<Plan>) =>
  plans.length === 0 || plans.some((plan) => plan.slugs.some((each) => each.available !== null))

const fixed: ReadonlyArray<Field<Plan>> = [
  { key: "plan", title: "PLAN", value: ({ plan }) => plan },
  { key: "series", title: "SERIES", value: ({ series }) => textOr(series), dropOrder: 5 },
  { ...vcpus, dropOrder: 6 },
  { ...memoryMib, dropOrder: 7 },
  { ...diskGb, dropOrder: 4 },
  anyPricePerHour,
  { ...anyPricePerMonth, dropOrder: 8 }
]

/** A price in another currency, with its sign. */
const foreignText = ({ foreignPrice }: PlanOption): string | undefined =>
  foreignPrice === null ? undefined : foreignAmount(foreignPrice.currency, foreignPrice.amount)

/** The prices of one SKU. There are several if the price depends on the image. */
const skuText = (skuId: number, options: ReadonlyArray<PlanOption>): string => {
  const foreign = new Set(options.flatMap((option) => foreignText(option) ?? []))
  if (foreign.size > 0) return `${Array.from(foreign).join(", ")} (${skuId})`
  const prices = options.map(({ priceInr }) => priceInr)
  const known = prices.filter((price) => price !== null)
  const [min, max] = [Math.min(...known), Math.max(...known)]
  const price = known.length < prices.length ? nothing : min === max ? rupees(min) : `${rupees(min)}–${rupees(max)}`
  return `${price} (${skuId})`
}

/** The price of the whole period, and the SKU for `node create --committed-sku`. */
const committed = (days: number): Field<Plan> => ({
  key: `committedOptions.${days}`,
  title: `₹/${days} DAYS (SKU)`,
  value: ({ committedOptions }) =>
    Array.from(
      Map.groupBy(
        committedOptions.filter((option) => option.days === days),
        ({ skuId }) => skuId
      ),
      ([skuId, options]) => skuText(skuId, options)
    ).join(", ") || nothing,
  align: "right",
  dropOrder: 3,
  computed: true
})

/** Says on the card whether the option pays off. */
const worth = (option: PlanOption): string => {
  const { breakEvenDays, days, priceInr } = option
  if (priceInr === null) return foreignText(option) ?? "price not known"
  if (breakEvenDays === null) return `₹${rupees(priceInr)}`
  return breakEvenDays < days
    ? `₹${rupees(priceInr)}, pays after ${breakEvenDays} days`
    : `₹${rupees(priceInr)}, never pays: hourly billing is cheaper`
}

/** Names the images to which something applies, if it is not all of them. */
const withImages = ({ images }: Plan, some: ReadonlyArray<string>): string =>
  some.length === images.length ? "" : ` with ${some.join(", ")}`

const committedLine = (days: number): Field<Plan> => ({
  key: `committedOptions.${days}`,
  title: `${days} DAYS`,
  value: (plan) =>
    plan.committedOptions
      .filter((option) => option.days === days)
      .map((option) => `${worth(option)} (SKU ${option.skuId})${withImages(plan, option.images)}`)
      .join("; ") || nothing,
  computed: true
})

/** A line of the card that lists the price with each image, if the prices differ. */
const prices: Field<Plan> = {
  key: "prices",
  title: "PRICES",
  value: (plan) =>
    plan.prices.map((price) => `${priceText(price) ?? "not known"}${withImages(plan, price.images)}`).join("; "),
  computed: true
}

/** A line of the card that lists the names that a create accepts, if they differ from the plan's name. */
const slugs: Field<Plan> = {
  key: "slugs",
  title: "SLUGS",
  value: ({ slugs }) =>
    slugs
      .map(({ available, image, slug }) => `${slug} with ${image}${available === false ? " (sold out)" : ""}`)
      .join(", "),
  computed: true
}

const images: Field<Plan> = { key: "images", title: "IMAGES", value: ({ images }) => images.join(", ") }

const periodsOf = (plans: ReadonlyArray<Plan>): ReadonlyArray<number> =>
  Array.from(new Set(plans.flatMap(({ committedOptions }) => committedOptions.map(({ days }) => days)))).sort(
    (a, b) => a - b
  )

const fields = (plans: ReadonlyArray<Plan>): ReadonlyArray<Field<Plan>> => [
  ...fixed,
  ...periodsOf(plans).map(committed),
  minimumCharge,
  ...(statesAvailable(plans) ? [available] : [])
]

export const planRecord: RecordDescriptor<Plan> = {
  ...jsonOf(Plan),
  fields,
  hasMoreFields: true,
  none: "no such plans",
  idKey: "plan",
  nameKey: "plan"
}

/** One plan: its price by image, the savings of each commitment, and its images. */
export const planCard: RecordDescriptor<Plan> = {
  ...planRecord,
  fields: (plans) => [
    ...fixed,
    minimumCharge,
    ...(statesAvailable(plans) ? [available] : []),
    ...(plans.some((plan) => plan.prices.length > 1) ? [prices] : []),
    ...periodsOf(plans).map(committedLine),
    images,
    ...(plans.some((plan) => plan.slugs.some(({ slug }) => slug !== plan.plan)) ? [slugs] : [])
  ]
}
