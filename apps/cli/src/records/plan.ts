/**
 * A plan: size and price, and one column for each period that can be committed to.
 */
import { CommittedOption } from "@berth/core/domain/Commitment"
import { Plan as DomainPlan } from "@berth/core/domain/Plan"
import { Schema } from "effect"
import { nothing, rupees, textOr } from "../output/format.ts"
import { type Field, jsonOf, type RecordDescriptor } from "../output/RecordDescriptor.ts"
import { pricePerHour, pricePerMonth } from "./price.ts"
import { diskGb, memoryMib, vcpus } from "./size.ts"

const Option = Schema.Struct({
  ...CommittedOption.fields,
  breakEvenDays: Schema.NullOr(Schema.Number).annotate({
    description:
      "After so many days of hourly billing the option would have been cheaper; null where a price is not known."
  })
})
type Option = typeof Option.Type

const Plan = Schema.Struct({ ...DomainPlan.fields, committedOptions: Schema.Array(Option) })
export interface Plan extends Schema.Schema.Type<typeof Plan> {}

/** Days in tenths: more would claim a precision that prices do not have. */
const breakEvenDays = ({ priceInr }: CommittedOption, pricePerHourInr: number | null): number | null =>
  priceInr === null || pricePerHourInr === null || pricePerHourInr === 0
    ? null
    : Math.round((priceInr / (pricePerHourInr * 24)) * 10) / 10

/** A plan as it is printed: with when each committed option pays. */
export const planOf = (plan: DomainPlan): Plan => ({
  ...plan,
  committedOptions: plan.committedOptions.map((option) => ({
    ...option,
    breakEvenDays: breakEvenDays(option, plan.pricePerHourInr)
  }))
})

const fixed: ReadonlyArray<Field<Plan>> = [
  { key: "plan", title: "PLAN", value: ({ plan }) => plan },
  { key: "series", title: "SERIES", value: ({ series }) => textOr(series), dropOrder: 5 },
  { ...vcpus, dropOrder: 6 },
  { ...memoryMib, dropOrder: 7 },
  { ...diskGb, dropOrder: 4 },
  pricePerHour,
  { ...pricePerMonth, dropOrder: 8 }
]

/** The price of the whole period, and the SKU that `node create --committed-sku` takes. */
const committed = (days: number): Field<Plan> => ({
  key: `committedOptions.${days}`,
  title: `₹/${days} DAYS (SKU)`,
  value: ({ committedOptions }) =>
    committedOptions
      .filter((option) => option.days === days)
      .map(({ priceInr, skuId }) => `${rupees(priceInr)} (${skuId})`)
      .join(", ") || nothing,
  align: "right",
  dropOrder: 3,
  computed: true
})

/** On the card, whether the option is worth it. */
const worth = ({ breakEvenDays, days, priceInr }: Option): string => {
  if (breakEvenDays === null) return `₹${rupees(priceInr)}`
  return breakEvenDays < days
    ? `₹${rupees(priceInr)}, pays after ${breakEvenDays} days`
    : `₹${rupees(priceInr)}, never pays: hourly billing is cheaper`
}

const committedLine = (days: number): Field<Plan> => ({
  key: `committedOptions.${days}`,
  title: `${days} DAYS`,
  value: ({ committedOptions }) =>
    committedOptions
      .filter((option) => option.days === days)
      .map((option) => `${worth(option)} (SKU ${option.skuId})`)
      .join("; ") || nothing,
  computed: true
})

const images: Field<Plan> = { key: "images", title: "IMAGES", value: ({ images }) => images.join(", ") }

const periodsOf = (plans: ReadonlyArray<Plan>): ReadonlyArray<number> =>
  Array.from(new Set(plans.flatMap(({ committedOptions }) => committedOptions.map(({ days }) => days)))).sort(
    (a, b) => a - b
  )

const fields = (plans: ReadonlyArray<Plan>): ReadonlyArray<Field<Plan>> => [
  ...fixed,
  ...periodsOf(plans).map(committed)
]

export const planRecord: RecordDescriptor<Plan> = {
  ...jsonOf(Plan),
  fields,
  hasMoreFields: true,
  none: "no such plans",
  idKey: "plan",
  nameKey: "plan"
}

/** One plan by itself: with what each commitment saves, and the images that go with it. */
export const planCard: RecordDescriptor<Plan> = {
  ...planRecord,
  fields: (plans) => [...fixed, ...periodsOf(plans).map(committedLine), images]
}
