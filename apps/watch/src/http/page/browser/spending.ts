/** Computes the accounts' spending of this month, day by day, and the forecast. Pure. */
import { hoursText, monthDayText } from "@berthkit/web/components/times"
import type { AccountCost } from "./watchApi.ts"
import { boundText, priceText } from "./wording.ts"

type Spend = AccountCost["spent"]

interface Sum {
  readonly amount: number
  readonly atLeast: number
  readonly isBounded: boolean
  readonly error: number
  readonly blindMillis: number
}

/** Amounts are whole paise. */
const sumInr = (values: ReadonlyArray<number>): number =>
  values.reduce((total, value) => total + Math.round(value * 100), 0) / 100

const sumOf = (spends: ReadonlyArray<Spend>): Sum => ({
  amount: sumInr(spends.map(({ amountInr }) => amountInr)),
  atLeast: sumInr(spends.map(({ minInr }) => minInr)),
  isBounded: spends.every(({ maxInr }) => maxInr !== null),
  error: sumInr(spends.map(({ errorInr }) => errorInr ?? 0)),
  blindMillis: Math.max(0, ...spends.map(({ unobservedMillis }) => unobservedMillis))
})

/** The amount, marked if it may be higher. */
const amountText = ({ amount, atLeast, isBounded }: Sum): string =>
  boundText({ atLeast: isBounded ? amount : atLeast, isExact: isBounded })

const hourMillis = 3_600_000

/** What is unknown about an amount. */
const doubtText = ({ blindMillis, error, isBounded }: Sum, currencies: ReadonlyArray<string> = []): string =>
  [
    ...(currencies.length === 0 ? [] : [`without prices in ${currencies.join(", ")}`]),
    ...(isBounded || currencies.length > 0 ? [] : ["some prices are not known"]),
    ...(isBounded && error >= 1 ? [`± ${priceText(error)}`] : []),
    ...(blindMillis >= hourMillis ? [`${hoursText(blindMillis)} not watched`] : [])
  ].join(" · ")

interface Day {
  readonly name: string
  /** Whether the day is in the future. */
  readonly isAhead: boolean
  readonly text: string
  /** Relative to the highest, in percent. */
  readonly height: number
}

/** The days of the month for all accounts together: past and forecast ones. */
const daysOf = (accounts: ReadonlyArray<AccountCost>) => {
  const days = Map.groupBy(
    accounts.flatMap((account) => account.days),
    ({ day }) => day
  )
  const [first = "1970-01-01"] = days.keys()
  const [year, month] = first.split("-").map(Number) as [number, number]
  const length = new Date(Date.UTC(year, month, 0)).getUTCDate()
  const perDay = 24 * sumInr(accounts.map(({ perHour }) => perHour.minInr))
  return Array.from({ length }, (_, index) => {
    const name = `${first.slice(0, 8)}${String(index + 1).padStart(2, "0")}`
    const spends = days.get(name)
    if (spends === undefined) {
      return { name, isAhead: true, amount: perDay, text: `${monthDayText(name)}: ${priceText(perDay)} expected` }
    }
    const sum = sumOf(spends)
    const doubt = doubtText(sum)
    const text = `${monthDayText(name)}: ${amountText(sum)}${doubt === "" ? "" : `, ${doubt}`}`
    return { name, isAhead: false, amount: sum.amount, text }
  })
}

export interface Spending {
  readonly spent: string
  readonly expected: string
  readonly isOverBudget: boolean
  /**
   * The sentences about the budget, the uncertainty of the amounts, and the highest day. Each is empty if there is nothing to
   * say.
   */
  readonly budget: string
  readonly doubt: string
  readonly highest: string
  readonly days: ReadonlyArray<Day>
}

/** Requires at least one account. */
export const spendingOf = (accounts: ReadonlyArray<AccountCost>): Spending => {
  const spent = sumOf(accounts.map((each) => each.spent))
  const expected = sumOf(accounts.flatMap(({ forecast }) => forecast ?? []))
  const budgets = accounts.flatMap(({ budget }) => (budget === null ? [] : [budget.monthInr]))
  const hasBudget = budgets.length === accounts.length
  const days = daysOf(accounts)
  const highest = Math.max(...days.map(({ amount }) => amount))
  return {
    spent: amountText(spent),
    expected: amountText(expected),
    isOverBudget: hasBudget && expected.amount > sumInr(budgets),
    budget: hasBudget ? `budget ${priceText(sumInr(budgets))}` : "",
    doubt: doubtText(spent, Array.from(new Set(accounts.flatMap(({ currencies }) => currencies)))),
    highest: highest === 0 ? "" : `highest ${priceText(highest)}`,
    days: days.map(({ amount, isAhead, name, text }) => {
      const height = highest === 0 ? 0 : Math.max(amount > 0 ? 4 : 0, (100 * amount) / highest)
      return { name, isAhead, text, height }
    })
  }
}
