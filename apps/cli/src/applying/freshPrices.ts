/**
 * Prices during the execution of a plan, for orders and commitments. Berth buys nothing at a higher price than it has shown
 * (`currentPrice.ts`).
 */
import { monotonicMillis } from "@berthkit/core/client/time/Monotonic"
import { costOfOrder, type PriceList } from "@berthkit/core/domain/Price"
import { Effect, Semaphore } from "effect"
import { freshCatalogue, maxPriceAgeMillis } from "../catalogue/ImageList.ts"
import { PriceRisen } from "../failure/CliFailure.ts"
import { commitmentText } from "../fleet/FleetCommitment.ts"
import type { LoadedGroup } from "../fleet/Change.ts"
import { optionsOf } from "../fleet/planPrice.ts"
import { nothing, periodPrice } from "../output/format.ts"
import { ensureNotAbove, ensurePeriodNotAbove, ensurePriceNotAbove } from "../proposal/currentPrice.ts"
import { pricesOfOrders } from "../proposal/offer.ts"

/** A price list and the monotonic time at which it was read. */
export interface TimedPrices extends PriceList {
  readonly readMillis: number
}

/** The prices used while a plan runs; `shown` holds the prices that the user agreed to. */
export const freshPrices = Effect.fnUntraced(function* (shown: TimedPrices, groups: ReadonlyArray<LoadedGroup>) {
  const oneAtATime = yield* Semaphore.make(1)
  let latest = shown
  /** A purchase needs prices that were read after the plan was shown. One more request is cheap compared with a committed period. */
  const read = (isPurchase: boolean) =>
    oneAtATime.withPermits(1)(
      Effect.gen(function* () {
        const age = (yield* monotonicMillis) - latest.readMillis
        if (age > maxPriceAgeMillis || (isPurchase && latest === shown)) {
          const catalogue = yield* freshCatalogue
          const prices = yield* pricesOfOrders(
            groups.map(({ order }) => order),
            catalogue
          )
          latest = { ...prices, readMillis: catalogue.readMillis }
        }
        return latest
      })
    )

  /** Fails if a node of the group costs more than was shown. */
  const ensureOrder = Effect.fnUntraced(function* ({ order }: LoadedGroup) {
    const prices = yield* read(false)
    if (prices === shown) return
    const [shownTerms, terms] = [shown.ofOrder(order), prices.ofOrder(order)]
    const [before, now] = [costOfOrder(shownTerms), costOfOrder(terms)]
    const what = `${order.plan} with ${order.image}`
    yield* ensurePriceNotAbove(
      `The price of ${what}`,
      { price: before.price, foreignPrice: shownTerms.foreignPrice },
      { price: now.price, foreignPrice: terms.foreignPrice }
    )
    yield* ensureNotAbove(`The minimum charge of ${what}`, before.minimumBillingInr, now.minimumBillingInr)
  })

  /**
   * The committed option (a period at a price) that the group buys. Undefined if the group has no commitment, or its commitment has no
   * days and so buys no period. Fails if the option costs more than was shown.
   */
  const optionFor = Effect.fnUntraced(function* (group: LoadedGroup) {
    const { commitment } = group
    if (commitment === null || commitment.days === null) return undefined
    const [before] = optionsOf(group, shown)
    const [option, ...others] = optionsOf(group, yield* read(true))
    const what = `The price of the commitment ${commitmentText(commitment)}`
    if (option === undefined || others.length > 0) {
      return yield* new PriceRisen({ what, shown: (before && periodPrice(before)) ?? nothing, now: null })
    }
    if (before !== undefined) yield* ensurePeriodNotAbove(what, before, option)
    return option
  })

  return { ensureOrder, optionFor }
})
