/** Computes the spending of a period in rupees, with its uncertainty. Pure. */
import { Schema } from "effect"
import { dayMillis, dayName, type Month } from "./calendar.ts"
import { type Days, lastRates, perDay, type Rates, sumOf } from "./Days.ts"

/** Divides amounts into paise: rates are in millionths of a rupee per hour, and times in milliseconds. */
const perPaisa = 10_000n * 3_600_000n

const down = (value: bigint): bigint => value / perPaisa
const up = (value: bigint): bigint => (value + perPaisa - 1n) / perPaisa
const inr = (paise: bigint): number => Number(paise) / 100

const Rupees = Schema.Number

/** Spent rupees, in whole paise, with their uncertainty. */
export const Spend = Schema.Struct({
  amountInr: Rupees.annotate({ description: "In rupees: halfway between the bounds, plus `assumedInr`." }),
  minInr: Rupees.annotate({ description: "The lower bound." }),
  maxInr: Schema.NullOr(Rupees).annotate({
    description: "The upper bound; null if a price was not known for a while."
  }),
  errorInr: Schema.NullOr(Rupees).annotate({
    description: "Maximum error of `amountInr`, either way; null if there is no upper bound."
  }),
  assumedInr: Rupees.annotate({
    description: "The part at prices that were read only later. Neither bound includes it."
  }),
  unpricedNodeHours: Schema.Number.annotate({ description: "Hours of nodes whose price was not known then." }),
  unobservedMillis: Schema.Number.annotate({
    description: "How long nothing was observed: nodes that existed only in that time are not included."
  })
}).annotate({ identifier: "Spend" })
export type Spend = typeof Spend.Type

const spendOf = ([low, high, assumed, open, blind]: Rates): Spend => {
  const isOpen = open > 0n
  const min = down(low)
  const max = up(high)
  const amount = (low + high + 2n * assumed + perPaisa) / (2n * perPaisa)
  const widest = max - amount > amount - min ? max - amount : amount - min
  return {
    amountInr: inr(amount),
    minInr: inr(min),
    maxInr: isOpen ? null : inr(max),
    // If both bounds are equal, the amount is exact, apart from rounding.
    errorInr: isOpen ? null : low === high ? 0 : inr(widest),
    assumedInr: inr(down(assumed)),
    unpricedNodeHours: Number((open * 1000n) / 3_600_000n) / 1000,
    unobservedMillis: Number(blind)
  }
}

export const spendBetween = (days: Days, fromMillis: number, toMillis: number): Spend =>
  spendOf(sumOf(perDay(days, fromMillis, toMillis)))

/** The current cost of the nodes per hour. */
export const perHour = (days: Days): Pick<Spend, "minInr" | "maxInr"> => {
  const [low, high, , open] = lastRates(days)
  return { minInr: inr(down(low * 3_600_000n)), maxInr: open > 0n ? null : inr(up(high * 3_600_000n)) }
}

/** What was spent in a month up to an instant. */
export const monthToDate = (days: Days, month: Month, nowMillis: number): Spend =>
  spendBetween(days, month.fromMillis, Math.max(month.fromMillis, Math.min(nowMillis, month.toMillis)))

/** The total of a month if nothing changes from now on. */
export const forecast = (days: Days, month: Month): Spend => spendBetween(days, month.fromMillis, month.toMillis)

/** The spending on each day of a period; the last day may be partial. */
export const spendByDay = (days: Days, fromMillis: number, toMillis: number) =>
  Array.from(perDay(days, fromMillis, toMillis), ({ amount, day, fromMillis, toMillis }) => ({
    day: dayName(day),
    isPart: toMillis - fromMillis < dayMillis,
    ...spendOf(amount)
  }))
