/**
 * Hourly and monthly prices: the same columns in every record with a price, and the same words for a known, bounded or unknown price.
 */
import type { ForeignPrice } from "@berthkit/core/domain/Image"
import type { Price } from "@berthkit/core/domain/Price"
import { foreignAmount, nothing, rupees } from "../output/format.ts"
import { type Field, inr } from "../output/RecordDescriptor.ts"

const periods = ["Hour", "Month"] as const
type Period = (typeof periods)[number]

/** The price of a period, as far as it is known. */
const amountOf = (price: Price, period: Period) => ({
  exact: price[`pricePer${period}Inr`],
  min: price[`minPricePer${period}Inr`],
  max: price[`maxPricePer${period}Inr`]
})

/** A price in a cell, for example `6.46`, `6.46–20.50`, or `≥ 6.46` for a sum with an unknown part. */
const cell = (price: Price, period: Period): string => {
  const { exact, max, min } = amountOf(price, period)
  if (exact !== null) return rupees(exact)
  if (min === null) return nothing
  return max === null ? `≥ ${rupees(min)}` : `${rupees(min)}–${rupees(max)}`
}

const phrase = (price: Price, period: Period): string | undefined => {
  const { exact, max, min } = amountOf(price, period)
  const end = `per ${period.toLowerCase()}`
  if (exact !== null) return `₹${rupees(exact)} ${end}`
  if (min === null) return undefined
  return max === null ? `at least ₹${rupees(min)} ${end}` : `₹${rupees(min)} to ₹${rupees(max)} ${end}`
}

/** An hourly price in a sentence; undefined if nothing is known. */
export const pricePerHourText = (price: Price): string | undefined => phrase(price, "Hour")

/** A price in a sentence: `₹6.46 per hour, ₹4715.80 per month`; undefined if nothing is known. */
export const priceText = (price: Price): string | undefined => {
  const known = periods.map((period) => phrase(price, period)).filter((text) => text !== undefined)
  return known.length === 0 ? undefined : known.join(", ")
}

/** Why the price of an order has a lower bound and no upper bound. */
export const diskUnpriced = "the price of the disk is not listed"

/** The name of a currency in a sentence. */
export const currencyName = ({ currency }: Pick<ForeignPrice, "currency">): string =>
  currency === "?" ? "a currency that is not known" : currency

/** A price in another currency in a sentence: `$0.04 per hour, $29.20 per month`. */
export const foreignPriceText = (price: ForeignPrice): string => {
  const known = periods.flatMap((period) => {
    const amount = price[`per${period}`]
    return amount === null ? [] : [`${foreignAmount(price.currency, amount)} per ${period.toLowerCase()}`]
  })
  return known.length === 0 ? `price in ${currencyName(price)}, not known` : known.join(", ")
}

/** The price column of records that may have a price in another currency. Such a price is shown with the sign of its currency. */
const orForeign = (
  field: Field<Price>,
  period: "perHour" | "perMonth"
): Field<Price & { readonly foreignPrice: ForeignPrice | null }> => ({
  ...field,
  value: (record, nowMillis) =>
    record.foreignPrice === null
      ? field.value(record, nowMillis)
      : foreignAmount(record.foreignPrice.currency, record.foreignPrice[period])
})

const column = (period: Period, alias?: string): Field<Price> => ({
  key: `pricePer${period}Inr`,
  title: `₹/${period.toUpperCase()}`,
  ...(alias !== undefined && { alias }),
  value: (price) => cell(price, period),
  align: "right",
  sortKey: `minPricePer${period}Inr`
})

export const pricePerHour = column("Hour", "price")
export const pricePerMonth = column("Month")
export const anyPricePerHour = orForeign(pricePerHour, "perHour")
export const anyPricePerMonth = orForeign(pricePerMonth, "perMonth")

/** The minimum charge of a node, which is due even if it is deleted at once. */
export const minimumCharge: Field<{ readonly minimumBillingInr: number | null }> = inr(
  "minimumBillingInr",
  "₹ MINIMUM",
  {
    alias: "minimum",
    dropOrder: 9
  }
)
