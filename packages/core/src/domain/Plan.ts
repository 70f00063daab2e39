/**
 * A plan: the size of a node, and what it costs with each image. The interface has no such resource, so plans come from the image
 * list (A19).
 */
import { Schema } from "effect"
import { CommittedOption } from "./Commitment.ts"
import { type Image, type ImageFilter, Specs } from "./Image.ts"
import { breakEvenDays, Price, priceKey, priceList, sameForeignPrice, type Terms } from "./Price.ts"

/** Images with the same price on a plan. */
export const PlanPrice = /*#__PURE__*/ (() =>
  Schema.Struct({ ...Price.fields, images: Schema.Array(Schema.String) }).annotate({ identifier: "PlanPrice" }))()
export interface PlanPrice extends Schema.Schema.Type<typeof PlanPrice> {}

/** A committed option of a plan, and the images for which it has this price. */
export const PlanOption = /*#__PURE__*/ (() =>
  Schema.Struct({
    ...CommittedOption.fields,
    /** The number of days of hourly billing after which the option is cheaper; null if a price is unknown. */
    breakEvenDays: Schema.NullOr(Schema.Number),
    images: Schema.Array(Schema.String)
  }).annotate({ identifier: "PlanOption" }))()
export interface PlanOption extends Schema.Schema.Type<typeof PlanOption> {}

/** The value for `plan` of a create with this image. */
export const PlanSlug = /*#__PURE__*/ Schema.Struct({
  image: Schema.String,
  slug: Schema.String
}).annotate({ identifier: "PlanSlug" })
export interface PlanSlug extends Schema.Schema.Type<typeof PlanSlug> {}

/** A plan and its images. Its price is known if it is the same for all images. */
export const Plan = /*#__PURE__*/ (() =>
  Schema.Struct({
    /** The name under which nodes show the plan: its SKU, or its slug if the service has no SKUs. */
    plan: Schema.String,
    vcpus: Specs.fields.vcpus,
    memoryMib: Specs.fields.memoryMib,
    diskGb: Specs.fields.diskGb,
    series: Specs.fields.series,
    ...Price.fields,
    minimumBillingInr: Specs.fields.minimumBillingInr,
    /** The price in another currency, if all records of the plan state the same; the prices in rupees are null then. */
    foreignPrice: Specs.fields.foreignPrice,
    /** A SKU is listed more than once if its price depends on the image. */
    committedOptions: Schema.Array(PlanOption),
    /** The plan's images, in the service's order. */
    images: Schema.Array(Schema.String),
    /** The value for `plan` of a create, by image. A SKU has one or more slugs per image, and its name does not show them. */
    slugs: Schema.Array(PlanSlug),
    /** Each image once, grouped by price. */
    prices: Schema.Array(PlanPrice)
  }).annotate({ identifier: "Plan" }))()
export interface Plan extends Schema.Schema.Type<typeof Plan> {}

/** Filters that the service does not have. A plan must match all that are given. */
export const PlanSize = /*#__PURE__*/ Schema.Struct({
  /** Minimum number of virtual CPUs. */
  minCpu: Schema.optional(Schema.Int),
  /** Minimum memory in GB. */
  minRam: Schema.optional(Schema.Int),
  /** The name of the plan, in upper or lower case. */
  plan: Schema.optional(Schema.String)
}).annotate({ identifier: "PlanSize" })
export interface PlanSize extends Schema.Schema.Type<typeof PlanSize> {}

/** Filters for plans and their images. */
export interface PlanFilter extends ImageFilter, PlanSize {}

const mibPerGb = 1024

/** Whether a size is large enough; an unknown size is not. */
const isAtLeast = (min: number | undefined, size: number | null): boolean =>
  min === undefined || (size !== null && size >= min)

/** The names of a plan: its SKU, if any, and its slugs. */
export const namesOf = ({ plan, slugs }: Pick<Plan, "plan" | "slugs">): ReadonlyArray<string> => [
  plan,
  ...slugs.map(({ slug }) => slug)
]

/** Whether a plan with these names and this size passes the filters. */
export const passesSize =
  ({ minCpu, minRam, plan: named }: PlanSize) =>
  (names: ReadonlyArray<string | null>, { memoryMib, vcpus }: Pick<Plan, "vcpus" | "memoryMib">): boolean =>
    (named === undefined || names.some((name) => name?.toLowerCase() === named.toLowerCase())) &&
    isAtLeast(minCpu, vcpus) &&
    isAtLeast(minRam && minRam * mibPerGb, memoryMib)

/** The value that all records state, without those that state none; null if the stated values differ. */
const stated = <A>(values: ReadonlyArray<A | null>): A | null => {
  const known = new Set(values.filter((value) => value !== null))
  const [only = null] = known
  return known.size === 1 ? only : null
}

/** Distinct values, each with all images that have it. */
const byImages = <A extends object>(
  values: ReadonlyArray<readonly [image: string, value: A]>,
  keyOf: (value: A) => string
) =>
  Array.from(Map.groupBy(values, ([, value]) => keyOf(value)).values(), (same) => ({
    ...same[0]![1],
    images: same.map(([image]) => image)
  }))

const optionsWith = ({ committedOptions, price }: Terms) =>
  committedOptions.map((option) => ({
    ...option,
    breakEvenDays: breakEvenDays(option.priceInr, price.pricePerHourInr)
  }))

/** The plans in a list of images, in order of first appearance. */
export const fromImages = (images: ReadonlyArray<Image>): ReadonlyArray<Plan> => {
  const prices = priceList(images)
  return Array.from(
    Map.groupBy(images, ({ plan, sku }) => sku ?? plan),
    ([plan, records]): Plan => {
      const terms = prices.ofPlan({ plan, image: null })
      const own = Array.from(new Set(records.map(({ image }) => image)))
      const withImage = own.map((image) => [image, prices.ofPlan({ plan, image })] as const)
      const slugs = records.map((record) => ({ image: record.image, slug: record.plan }))
      return {
        plan,
        vcpus: stated(records.map(({ specs }) => specs.vcpus)),
        memoryMib: stated(records.map(({ specs }) => specs.memoryMib)),
        diskGb: stated(records.map(({ specs }) => specs.diskGb)),
        series: stated(records.map(({ specs }) => specs.series)),
        ...terms.price,
        minimumBillingInr: terms.minimumBillingInr,
        foreignPrice: sameForeignPrice(records.map(({ specs }) => specs.foreignPrice)),
        committedOptions: byImages(
          withImage.flatMap(([image, terms]) => optionsWith(terms).map((option) => [image, option] as const)),
          ({ breakEvenDays, days, foreignPrice, priceInr, skuId }) =>
            String([skuId, days, priceInr, foreignPrice?.amount, breakEvenDays])
        ),
        images: own,
        slugs: Array.from(new Map(slugs.map((each) => [`${each.image} ${each.slug}`, each])).values()),
        prices: byImages(
          withImage.map(([image, { price }]) => [image, price] as const),
          priceKey
        )
      }
    }
  )
}
