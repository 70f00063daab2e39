/**
 * What an order costs: per hour and per month, its minimum charge, and the committed period that it buys. Every command that creates a node
 * shows, adds up and limits these amounts.
 */
import type { CommittedOption } from "@berthkit/core/domain/Commitment"
import { shareInr } from "@berthkit/core/domain/Money"
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
        : exactPrice(shareInr(committedPriceInr, option.days * hoursPerDay), null),
    minimumBillingInr: null,
    committedPriceInr
  }
}
