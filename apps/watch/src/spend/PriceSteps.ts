/** The successive prices of a plan with an image, and the spending of nodes at these prices. Pure. */
import { toMicros } from "@berthkit/core/domain/Money"
import { oneOfPrices } from "@berthkit/core/domain/Price"
import { pricesOf } from "../diff/catalogue/Catalogue.ts"
import type { CataloguePlan } from "../diff/CatalogueFact.ts"
import { plus, type Rates, type Step, times, zero } from "./Days.ts"

/** A price and the instant from which it applies. The first price of a list has always applied. */
export interface PriceStep {
  readonly fromMillis: number
  /** The minimum and maximum price, in millionths of a rupee per hour. `high` is null if the price is unknown. */
  readonly low: number
  readonly high: number | null
  /** The assumed price, if prices were read only later; otherwise 0. */
  readonly assumed: number
}

/** A price without its instant. */
export type HourlyPrice = Pick<PriceStep, "low" | "high">

export const unknown: HourlyPrice = { low: 0, high: null }

export const isUnknown = ({ high, low }: HourlyPrice): boolean => high === null && low === 0

/**
 * The price of a node on a plan: with its image if that is known, otherwise with one of the possible images, otherwise with any
 * image.
 */
export const priceWith = (
  plan: CataloguePlan | undefined,
  image: string | null,
  possible: ReadonlySet<string> = new Set()
): HourlyPrice => {
  if (plan === undefined) return unknown
  const prices = pricesOf(plan)
  const some = Array.from(possible).flatMap((each) => prices.get(each) ?? [])
  const { maxPricePerHourInr: max, minPricePerHourInr: min } =
    (image === null ? undefined : prices.get(image)) ?? (some.length === 0 ? plan : oneOfPrices(some))
  return { low: min === null ? 0 : toMicros(min), high: max === null ? null : toMicros(max) }
}

const middleOf = ({ high, low }: HourlyPrice): number => Math.round((low + (high ?? low)) / 2)

/** The steps of a price that was first read at `sinceMillis`. The same price is assumed for the time before. */
export const readFirst = (price: HourlyPrice, sinceMillis: number): ReadonlyArray<PriceStep> =>
  isUnknown(price)
    ? [{ fromMillis: -Infinity, ...unknown, assumed: 0 }]
    : [
        { fromMillis: -Infinity, ...unknown, assumed: middleOf(price) },
        { fromMillis: sinceMillis, ...price, assumed: 0 }
      ]

/** Adds a price that replaced the last one at an unknown time within an interval. */
export const changedBetween = (
  steps: ReadonlyArray<PriceStep>,
  price: HourlyPrice,
  [fromMillis, toMillis]: readonly [number, number]
): ReadonlyArray<PriceStep> => {
  const last = steps.at(-1)!
  const from = Math.max(fromMillis, last.fromMillis)
  const either = {
    low: Math.min(last.low, price.low),
    high: last.high === null || price.high === null ? null : Math.max(last.high, price.high)
  }
  return [
    ...steps,
    { fromMillis: from, ...either, assumed: 0 },
    { fromMillis: Math.max(from, toMillis), ...price, assumed: 0 }
  ]
}

/**
 * A number of nodes that start at an instant; if negative, that end. `low` and `high` count only for that bound of the
 * spending, `both` for both.
 */
export interface Lives {
  readonly fromMillis: number
  readonly count: number
  readonly side: "low" | "high" | "both"
}

const ratesOf = ({ assumed, high, low }: PriceStep, side: Lives["side"]): Rates => {
  const upper = side !== "low"
  return [
    side === "high" ? 0n : BigInt(low),
    upper ? BigInt(high ?? low) : 0n,
    upper ? BigInt(assumed) : 0n,
    upper && high === null ? 1n : 0n,
    0n
  ]
}

/** The changes of the rates that starts and ends of nodes cause at these prices. */
export function* stepsOf(prices: ReadonlyArray<PriceStep>, lives: Iterable<Lives>, sign = 1): Generator<Step> {
  for (const { count, fromMillis, side } of lives) {
    let before = zero
    for (const [index, price] of prices.entries()) {
      const next = prices[index + 1]?.fromMillis ?? Infinity
      if (next <= fromMillis) continue
      const rates = ratesOf(price, side)
      const weight = BigInt(count * sign)
      yield [Math.max(price.fromMillis, fromMillis), times(plus(rates, times(before, -1n)), weight)]
      before = rates
    }
  }
}
