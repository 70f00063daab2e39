/**
 * What something costs by the hour and by the month: the same columns in every record that has a price, and the same words for a
 * price that is known, known within bounds, or not known.
 */
import type { Price } from "@berthkit/core/domain/Price"
import { nothing, rupees } from "../output/format.ts"
import type { Field } from "../output/RecordDescriptor.ts"

/** An amount as far as it is known. */
interface Amount {
  readonly exact: number | null
  readonly min: number | null
  readonly max: number | null
}

const perHour = (price: Price): Amount => ({
  exact: price.pricePerHourInr,
  min: price.minPricePerHourInr,
  max: price.maxPricePerHourInr
})

const perMonth = (price: Price): Amount => ({
  exact: price.pricePerMonthInr,
  min: price.minPricePerMonthInr,
  max: price.maxPricePerMonthInr
})

/** `6.46`, `6.46–20.50`, or `≥ 6.46` of a sum whose rest is not known. */
const cell = ({ exact, max, min }: Amount): string => {
  if (exact !== null) return rupees(exact)
  if (min === null) return nothing
  return max === null ? `≥ ${rupees(min)}` : `${rupees(min)}–${rupees(max)}`
}

const phrase = ({ exact, max, min }: Amount, period: string): string | undefined => {
  if (exact !== null) return `₹${rupees(exact)} per ${period}`
  if (min === null) return undefined
  return max === null ? `at least ₹${rupees(min)} per ${period}` : `₹${rupees(min)} to ₹${rupees(max)} per ${period}`
}

/** A price per hour in a sentence; undefined where nothing is known. */
export const pricePerHourText = (price: Price): string | undefined => phrase(perHour(price), "hour")

/** A price in a sentence: `₹6.46 per hour, ₹4715.80 per month`; undefined where nothing is known. */
export const priceText = (price: Price): string | undefined => {
  const known = [phrase(perHour(price), "hour"), phrase(perMonth(price), "month")].filter((text) => text !== undefined)
  return known.length === 0 ? undefined : known.join(", ")
}

export const pricePerHour: Field<Price> = {
  key: "pricePerHourInr",
  title: "₹/HOUR",
  alias: "price",
  value: (price) => cell(perHour(price)),
  align: "right",
  sortKey: "minPricePerHourInr"
}

export const pricePerMonth: Field<Price> = {
  key: "pricePerMonthInr",
  title: "₹/MONTH",
  value: (price) => cell(perMonth(price)),
  align: "right",
  sortKey: "minPricePerMonthInr"
}
