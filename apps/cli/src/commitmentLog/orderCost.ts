/**
 * What an order costs: per hour and per month, its minimum charge, and the committed period that it buys. Every command that creates a node
 * shows, adds up and limits these amounts.
 */
import type { CommittedOption } from "@berthkit/core/domain/Commitment"
import { shareInr, timesInr } from "@berthkit/core/domain/Money"
import { exactPrice, type Price, type Terms, unknownPrice } from "@berthkit/core/domain/Price"

export interface OrderCost {
  /** For a committed period, its price divided by its hours. */
  readonly price: Price
  /** Null if it is unknown, or if a period is bought, which is billed whole. */
  readonly minimumBillingInr: number | null
  /** The price of the whole period; null without a period, or if unknown. */
  readonly committedPriceInr: number | null
}

const hoursPerDay = 24
/** What a month is where a price per month is that of an hour, or the other way round. */
export const hoursPerMonth = 730
const hoursOfLongestMonth = 744

/**
 * The most that a node costs per hour in rupees, in whichever way it is billed; null if its price is not known. A price per month or a
 * minimum charge that the price per hour does not account for counts as that of 730 hours.
 */
export const maxPerHourOf = (
  { maxPricePerHourInr, maxPricePerMonthInr }: Pick<Price, "maxPricePerHourInr" | "maxPricePerMonthInr">,
  minimumBillingInr: number | null = null
): number | null => {
  if (maxPricePerHourInr === null) return null
  const accounted = timesInr(maxPricePerHourInr, hoursOfLongestMonth)
  const others = [maxPricePerMonthInr, minimumBillingInr].flatMap((amount) =>
    amount === null || amount <= accounted ? [] : [shareInr(amount, hoursPerMonth)]
  )
  return Math.max(maxPricePerHourInr, ...others)
}

/** The price per hour of a committed period of so many days, in rupees. */
export const committedPerHour = (committedInr: number, days: number): number =>
  shareInr(committedInr, days * hoursPerDay)

/** The cost of a node by the hour, or with `commitment` for a committed period, which may be missing in the list. */
export const costOfOrder = (
  { minimumBillingInr, price }: Pick<Terms, "minimumBillingInr" | "price">,
  commitment?: { readonly option: CommittedOption | undefined }
): OrderCost => {
  if (commitment === undefined) return { price, minimumBillingInr, committedPriceInr: null }
  const { option } = commitment
  const committedPriceInr = option?.priceInr ?? null
  return {
    // A committed option that is not listed, or not at one price, has no known price.
    price:
      option === undefined || committedPriceInr === null
        ? unknownPrice
        : exactPrice(committedPerHour(committedPriceInr, option.days), null),
    minimumBillingInr: null,
    committedPriceInr
  }
}
