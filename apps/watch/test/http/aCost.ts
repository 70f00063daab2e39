/**
 * The spending of an account in a month, for tests of the page and of metrics. Rates in whole rupees an hour determine it; each rate holds
 * from a day of the month on.
 */
import { DateTime } from "effect"
import { monthOf } from "../../src/spend/calendar.ts"
import { type Step, withSteps } from "../../src/spend/Days.ts"
import { forecast, perHour, spendBetween, spendByDay } from "../../src/spend/figures.ts"
import type { AccountCost } from "../../src/http/records.ts"

const dayMillis = 86_400_000

export const aCost = (
  { account = "default", ...over }: Partial<AccountCost>,
  nowMillis: number,
  rates: ReadonlyArray<readonly [day: number, perHourInr: number]>
): AccountCost => {
  const month = monthOf(nowMillis)
  const steps = rates.map(([day, perHourInr], index): Step => {
    const rate = BigInt(perHourInr - (rates[index - 1]?.[1] ?? 0)) * 1_000_000n
    return [month.fromMillis + (day - 1) * dayMillis, [rate, rate, 0n, 0n, 0n]]
  })
  const { days } = withSteps(new Map(), steps)
  return {
    account,
    fingerprint: null,
    month: month.name,
    from: DateTime.makeUnsafe(month.fromMillis),
    to: DateTime.makeUnsafe(nowMillis),
    watchedSince: DateTime.makeUnsafe(month.fromMillis),
    spent: spendBetween(days, month.fromMillis, nowMillis),
    forecast: forecast(days, month),
    perHour: perHour(days),
    budget: null,
    currencies: [],
    days: spendByDay(days, month.fromMillis, nowMillis),
    ...over
  }
}
