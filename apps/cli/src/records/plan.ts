/**
 * A plan: size and price, and one column for each period that can be committed to.
 */
import { Plan } from "@berth/core/domain/Plan"
import { disk, memory, nothing, numberOr, rupees, textOr } from "../output/format.ts"
import { type Field, jsonOf, type RecordDescriptor } from "../output/RecordDescriptor.ts"

const fixed: ReadonlyArray<Field<Plan>> = [
  { key: "plan", title: "PLAN", value: ({ plan }) => plan },
  { key: "series", title: "SERIES", value: ({ series }) => textOr(series), dropOrder: 5 },
  { key: "vcpus", title: "VCPU", value: ({ vcpus }) => numberOr(vcpus), align: "right", dropOrder: 6 },
  {
    key: "memoryMib",
    title: "MEMORY",
    alias: "memory",
    value: ({ memoryMib }) => memory(memoryMib),
    align: "right",
    dropOrder: 7
  },
  { key: "diskGb", title: "DISK", alias: "disk", value: ({ diskGb }) => disk(diskGb), align: "right", dropOrder: 4 },
  {
    key: "pricePerHourInr",
    title: "₹/HOUR",
    alias: "price",
    value: ({ pricePerHourInr }) => rupees(pricePerHourInr),
    align: "right"
  },
  {
    key: "pricePerMonthInr",
    title: "₹/MONTH",
    value: ({ pricePerMonthInr }) => rupees(pricePerMonthInr),
    align: "right",
    dropOrder: 8
  }
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
  dropOrder: 3
})

const fields = (plans: ReadonlyArray<Plan>): ReadonlyArray<Field<Plan>> => {
  const periods = new Set(plans.flatMap(({ committedOptions }) => committedOptions.map(({ days }) => days)))
  return [
    ...fixed,
    ...Array.from(periods)
      .sort((a, b) => a - b)
      .map(committed)
  ]
}

export const planRecord: RecordDescriptor<Plan> = {
  ...jsonOf(Plan),
  fields,
  hasMoreFields: true,
  none: "no such plans",
  idKey: "plan",
  nameKey: "plan"
}
