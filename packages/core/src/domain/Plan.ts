/**
 * A plan: the size of a node, and what it costs with each image. The interface has no such resource, so plans come from the image
 * list (A19).
 */
import { Schema } from "effect"
import { CommittedOption } from "./Commitment.ts"
import { type Image, Specs } from "./Image.ts"
import { breakEvenDays, Price, priceKey, priceList, type Terms } from "./Price.ts"

/** Images that have the same price on a plan. */
export const PlanPrice = /*#__PURE__*/ (() =>
  Schema.Struct({ ...Price.fields, images: Schema.Array(Schema.String) }).annotate({ identifier: "PlanPrice" }))()
export interface PlanPrice extends Schema.Schema.Type<typeof PlanPrice> {}

/** A committed option of a plan, and the images that it has this price with. */
export const PlanOption = /*#__PURE__*/ (() =>
  Schema.Struct({
    ...CommittedOption.fields,
    /** After so many days of hourly billing the option would have been cheaper; null where a price is not known. */
    breakEvenDays: Schema.NullOr(Schema.Number),
    images: Schema.Array(Schema.String)
  }).annotate({ identifier: "PlanOption" }))()
export interface PlanOption extends Schema.Schema.Type<typeof PlanOption> {}

/** A plan and the images it can be started with. Its price is that with any of them: known where all have the same. */
export const Plan = /*#__PURE__*/ (() =>
  Schema.Struct({
    /** Plan slug, what `plan` of a create takes. */
    plan: Schema.String,
    vcpus: Specs.fields.vcpus,
    memoryMib: Specs.fields.memoryMib,
    diskGb: Specs.fields.diskGb,
    series: Specs.fields.series,
    ...Price.fields,
    minimumBillingInr: Specs.fields.minimumBillingInr,
    /** A SKU is listed more than once where its price depends on the image. */
    committedOptions: Schema.Array(PlanOption),
    /** Images that go with the plan, in the service's order. */
    images: Schema.Array(Schema.String),
    /** Each image once, with those of the same price. */
    prices: Schema.Array(PlanPrice)
  }).annotate({ identifier: "Plan" }))()
export interface Plan extends Schema.Schema.Type<typeof Plan> {}

/** What the records that state it agree on; null where they do not. */
const stated = <A>(values: ReadonlyArray<A | null>): A | null => {
  const known = new Set(values.filter((value) => value !== null))
  const [only = null] = known
  return known.size === 1 ? only : null
}

/** Values once each, with all images that have it. */
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
    Map.groupBy(images, ({ plan }) => plan),
    ([plan, records]): Plan => {
      const terms = prices.ofNode({ plan, image: null })
      const own = Array.from(new Set(records.map(({ image }) => image)))
      const withImage = own.map((image) => [image, prices.ofOrder({ plan, image })] as const)
      return {
        plan,
        vcpus: stated(records.map(({ specs }) => specs.vcpus)),
        memoryMib: stated(records.map(({ specs }) => specs.memoryMib)),
        diskGb: stated(records.map(({ specs }) => specs.diskGb)),
        series: stated(records.map(({ specs }) => specs.series)),
        ...terms.price,
        minimumBillingInr: terms.minimumBillingInr,
        committedOptions: byImages(
          withImage.flatMap(([image, terms]) => optionsWith(terms).map((option) => [image, option] as const)),
          ({ breakEvenDays, days, priceInr, skuId }) => `${skuId} ${days} ${priceInr} ${breakEvenDays}`
        ),
        images: own,
        prices: byImages(
          withImage.map(([image, { price }]) => [image, price] as const),
          priceKey
        )
      }
    }
  )
}
