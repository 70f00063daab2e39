/**
 * What an order costs: per hour and per month, its minimum charge, and the committed period that it buys. Every command that creates a node
 * shows, adds up and limits these amounts.
 */
import type { CommitmentSetting, CommittedOption } from "@berthkit/core/domain/Commitment"
import { shareInr, timesInr } from "@berthkit/core/domain/Money"
import { exactPrice, type Price, type Terms, unknownPrice, withDisk } from "@berthkit/core/domain/Price"

export interface OrderCost {
  /** For a committed period, its price divided by its hours. */
  readonly price: Price
  /** Null if it is unknown. Also null for a committed period, because that is billed as a whole. */
  readonly minimumBillingInr: number | null
  /** The price of the whole period; null if there is no period, or if its price is unknown. */
  readonly committedPriceInr: number | null
}

/** Whether a setting may name a committed option. Only a renewal may (interface.md §4 note 3), so no other setting buys a period. */
export const takesOption = (setting: CommitmentSetting): boolean => setting === "auto_renew"

const hoursPerDay = 24
/** Hours of a month, to convert between prices per month and per hour. */
export const hoursPerMonth = 730
const hoursOfLongestMonth = 744

/**
 * The most that a node costs per hour in rupees, for every way of billing; null if its hourly price is unknown. A
 * monthly price or a minimum charge above the price of the longest month by the hour counts too, divided by 730 hours.
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

/** The hourly price of a committed period of this many days, in rupees. */
export const committedPerHour = (committedInr: number, days: number): number =>
  shareInr(committedInr, days * hoursPerDay)

/** The cost of a node: by the hour, or for the committed period that `commitment` names. The price of a period may be unlisted. */
export const costOfOrder = (
  { isDiskUnpriced, minimumBillingInr, price }: Pick<Terms, "isDiskUnpriced" | "minimumBillingInr" | "price">,
  commitment?: { readonly option: CommittedOption | undefined }
): OrderCost => {
  if (commitment === undefined) return { price, minimumBillingInr, committedPriceInr: null }
  const { option } = commitment
  const committedPriceInr = option?.priceInr ?? null
  return {
    // A committed option that is unlisted, or listed at several prices, has no known price.
    price:
      option === undefined || committedPriceInr === null
        ? unknownPrice
        : withDisk(exactPrice(committedPerHour(committedPriceInr, option.days), null), { isDiskUnpriced }),
    minimumBillingInr: null,
    committedPriceInr
  }
}
