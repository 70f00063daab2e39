/**
 * The columns of `berth plan list`: size and price, and one column for each period that can be committed to.
 */
import type { Plan } from "@berth/core/domain/Plan"
import { type Column, nothing, numberOr, textOr } from "./Column.ts"
import { disk, memory, rupees } from "./units.ts"

const fixed: ReadonlyArray<Column<Plan>> = [
  { title: "PLAN", value: ({ plan }) => plan },
  { title: "SERIES", value: ({ series }) => textOr(series), leaves: 5 },
  { title: "VCPU", value: ({ vcpus }) => numberOr(vcpus), align: "right", leaves: 6 },
  { title: "MEMORY", value: ({ memoryMib }) => memory(memoryMib), align: "right", leaves: 7 },
  { title: "DISK", value: ({ diskGb }) => disk(diskGb), align: "right", leaves: 4 },
  { title: "₹/HOUR", value: ({ pricePerHourInr }) => rupees(pricePerHourInr), align: "right" },
  { title: "₹/MONTH", value: ({ pricePerMonthInr }) => rupees(pricePerMonthInr), align: "right", leaves: 8 }
]

/** The price of the whole period, and the SKU that `node create --committed-sku` takes. */
const committed = (days: number): Column<Plan> => ({
  title: `₹/${days} DAYS (SKU)`,
  value: ({ committedOptions }) =>
    committedOptions
      .filter((option) => option.days === days)
      .map(({ priceInr, skuId }) => `${rupees(priceInr)} (${skuId})`)
      .join(", ") || nothing,
  align: "right",
  leaves: 3
})

/** The columns that these plans need. */
export const planColumns = (plans: ReadonlyArray<Plan>): ReadonlyArray<Column<Plan>> => {
  const periods = new Set(plans.flatMap(({ committedOptions }) => committedOptions.map(({ days }) => days)))
  return [
    ...fixed,
    ...Array.from(periods)
      .sort((a, b) => a - b)
      .map(committed)
  ]
}
