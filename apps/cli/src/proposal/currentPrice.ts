/**
 * Checks prices right before a purchase. Minutes may pass after berth has shown a price, so berth reads the price again, and buys nothing
 * at a higher price than it has shown.
 */
import { monotonicMillis } from "@berthkit/core/client/time/Monotonic"
import type { CommittedOption, ForeignAmount } from "@berthkit/core/domain/Commitment"
import type { ForeignPrice } from "@berthkit/core/domain/Image"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import type { Price } from "@berthkit/core/domain/Price"
import { Effect, Semaphore } from "effect"
import { freshCatalogue, maxPriceAgeMillis, type TimedCatalogue } from "../catalogue/ImageList.ts"
import { PriceRisen } from "../failure/CliFailure.ts"
import { foreignAmount, periodPrice, rupees } from "../output/format.ts"
import { foreignPriceText, priceText } from "../records/price.ts"
import { createProposal, offerFor } from "./offer.ts"
import type { Proposal } from "./Proposal.ts"

/**
 * Fails if an amount is higher than the shown one, or no longer known in rupees. If the shown amount was unknown, any amount passes.
 * `foreign` is the text of the amount now if it is in another currency.
 */
export const ensureNotAbove = (
  what: string,
  shown: number | null,
  now: number | null,
  { foreign = null, unit = "" }: { readonly foreign?: string | null; readonly unit?: string } = {}
) => {
  if (shown === null || (now !== null && now <= shown)) return Effect.void
  const text = (inr: number) => `₹${rupees(inr)}${unit}`
  return Effect.fail(new PriceRisen({ what, shown: text(shown), now: now === null ? foreign : text(now) }))
}

/** A price in rupees, and the price in another currency if it is in one. */
interface AnyPrice {
  readonly price: Price
  readonly foreignPrice: ForeignPrice | null
}

/**
 * Fails if the price of an order is higher than the shown one, or in another currency. If a price has no upper bound, its lower bound is
 * compared.
 */
export const ensurePriceNotAbove = Effect.fnUntraced(function* (what: string, shown: AnyPrice, now: AnyPrice) {
  yield* ensureSameForeign(what, shown.foreignPrice, now.foreignPrice, foreignPriceText, priceText(now.price))
  const foreign = now.foreignPrice && foreignPriceText(now.foreignPrice)
  for (const period of ["Hour", "Month"] as const) {
    const bound = shown.price[`maxPricePer${period}Inr`] === null ? "min" : "max"
    const key = `${bound}PricePer${period}Inr` as const
    yield* ensureNotAbove(what, shown.price[key], now.price[key], { unit: ` per ${period.toLowerCase()}`, foreign })
  }
})

type PeriodPrice = Pick<CommittedOption, "foreignPrice" | "priceInr">

/** Fails if the price of a committed period is higher than the shown one, or in another currency. */
export const ensurePeriodNotAbove = Effect.fnUntraced(function* (what: string, shown: PeriodPrice, now: PeriodPrice) {
  yield* ensureSameForeign(what, shown.foreignPrice, now.foreignPrice, foreignAmountText, periodPrice(now))
  yield* ensureNotAbove(what, shown.priceInr, now.priceInr, {
    foreign: now.foreignPrice && foreignAmountText(now.foreignPrice)
  })
})

/**
 * Fails if a price in another currency is not the shown one. If the shown price was in rupees or unknown, any price passes. `inRupees` is
 * the text of the price now if it is in rupees.
 */
const ensureSameForeign = <A>(
  what: string,
  shown: A | null,
  now: A | null,
  text: (price: A) => string,
  inRupees: string | undefined
) =>
  shown === null || JSON.stringify(shown) === JSON.stringify(now)
    ? Effect.void
    : Effect.fail(new PriceRisen({ what, shown: text(shown), now: now === null ? (inRupees ?? null) : text(now) }))

const foreignAmountText = ({ amount, currency }: ForeignAmount): string => foreignAmount(currency, amount)

/** The price of one node, and the monotonic time at which it was read. */
export interface Quote {
  readonly readMillis: number
  readonly proposal: Proposal
}

/** Whether a price must be read again before a purchase. */
const isOutdated = ({ readMillis }: Quote) => Effect.map(monotonicMillis, (now) => now - readMillis > maxPriceAgeMillis)

export const quoteOf = (
  spec: NodeSpec,
  offer: Parameters<typeof createProposal>[1],
  { readMillis }: TimedCatalogue
): Quote => ({ readMillis, proposal: createProposal(spec, offer) })

/** Reads the price of a node. Fails if it can no longer be ordered. */
export const quoteFor = Effect.fnUntraced(function* (spec: NodeSpec, { force }: { readonly force: boolean }) {
  const catalogue = yield* freshCatalogue
  return quoteOf(spec, yield* offerFor(spec, catalogue, { force }), catalogue)
})

const ensureNotDearer = Effect.fnUntraced(function* (what: string, shown: Proposal, now: Proposal) {
  const periodOf = ({ committedPriceInr, foreignCommittedPrice }: Proposal) => ({
    priceInr: committedPriceInr,
    foreignPrice: foreignCommittedPrice
  })
  yield* ensurePeriodNotAbove(`The price of the committed period of ${what}`, periodOf(shown), periodOf(now))
  const priceOf = (proposal: Proposal): AnyPrice => ({ price: proposal, foreignPrice: proposal.foreignPrice })
  yield* ensurePriceNotAbove(`The price of ${what}`, priceOf(shown), priceOf(now))
  yield* ensureNotAbove(`The minimum charge of ${what}`, shown.minimumBillingInr, now.minimumBillingInr)
})

/**
 * Runs before each create of an order. If the price was read more than a minute ago, `read` reads it again, and a price
 * higher than the shown one is a failure. `what` names the order in the error.
 */
export const currentPrice = Effect.fnUntraced(function* <E, R>(
  what: string,
  shown: Quote,
  read: Effect.Effect<Quote, E, R>
): Effect.fn.Return<Effect.Effect<void, E | PriceRisen, R>> {
  const oneAtATime = yield* Semaphore.make(1)
  let latest = shown
  return oneAtATime.withPermits(1)(
    Effect.gen(function* () {
      if (yield* isOutdated(latest)) latest = yield* read
      yield* ensureNotDearer(what, shown.proposal, latest.proposal)
    })
  )
})
