// What the accounts spent in this month, day by day, and what it is going to come to.
import { make, setText } from "@berthkit/web/rows.js"
import { byId } from "./parts.js"
import { boundText, hoursText, monthDayText, priceText } from "./wording.js"

/** As `/api/cost` has it; undefined before it was read. */
let knownCosts

export const setCosts = (report) => {
  knownCosts = report.accounts
}

/** Amounts are whole paise. */
const sumInr = (values) => values.reduce((total, value) => total + Math.round(value * 100), 0) / 100

const spendOfAll = (spends) => ({
  amount: sumInr(spends.map(({ amountInr }) => amountInr)),
  atLeast: sumInr(spends.map(({ minInr }) => minInr)),
  isBounded: spends.every(({ maxInr }) => maxInr !== null),
  error: sumInr(spends.map(({ errorInr }) => errorInr ?? 0)),
  blindMillis: Math.max(0, ...spends.map(({ unobservedMillis }) => unobservedMillis))
})

/** An amount that may be higher says so. */
const amountText = ({ amount, atLeast, isBounded }) =>
  boundText({ atLeast: isBounded ? amount : atLeast, isExact: isBounded })

const hourMillis = 3_600_000

/** what is not known of the amount. */
const doubtText = ({ blindMillis, error, isBounded }, currencies = []) =>
  [
    ...(currencies.length === 0 ? [] : [`without prices in ${currencies.join(", ")}`]),
    ...(isBounded || currencies.length > 0 ? [] : ["some prices are not known"]),
    ...(isBounded && error >= 1 ? [`± ${priceText(error)}`] : []),
    ...(blindMillis >= hourMillis ? [`${hoursText(blindMillis)} not watched`] : [])
  ].join(" · ")

/** The days of the month: those that were, of all accounts, and those to come. */
const daysOf = (accounts) => {
  const days = Map.groupBy(
    accounts.flatMap((account) => account.days),
    ({ day }) => day
  )
  const [first] = days.keys()
  const [year, month] = first.split("-").map(Number)
  const length = new Date(Date.UTC(year, month, 0)).getUTCDate()
  const perDay = 24 * sumInr(accounts.map(({ perHour }) => perHour.minInr))
  return Array.from({ length }, (_, index) => {
    const name = `${first.slice(0, 8)}${String(index + 1).padStart(2, "0")}`
    const spends = days.get(name)
    return spends === undefined
      ? { name, isAhead: true, amount: perDay, text: `${monthDayText(name)}: ${priceText(perDay)} expected` }
      : { name, isAhead: false, amount: spendOfAll(spends).amount, text: spentDayText(name, spendOfAll(spends)) }
  })
}

const spentDayText = (name, spend) => {
  const doubt = doubtText(spend)
  return `${monthDayText(name)}: ${amountText(spend)}${doubt === "" ? "" : `, ${doubt}`}`
}

const dayBar = ({ amount, isAhead, text }, highest) => {
  const fill = make("i", { className: isAhead ? "ahead" : "" })
  fill.style.height = `${highest === 0 ? 0 : Math.max(amount > 0 ? 4 : 0, (100 * amount) / highest)}%`
  const day = make("li", { children: [fill, make("span", { className: "unseen", text })] })
  day.title = text
  return day
}

/** What is shown, so that nothing is painted twice. */
let paintedCosts = ""

/** Of one account, or of all where `account` is empty. Nothing is shown of accounts whose nodes are not known yet. */
export const paintSpending = (account) => {
  const accounts = (knownCosts ?? []).filter((each) => account === "" || each.account === account)
  byId("spending").hidden = accounts.length === 0
  const text = JSON.stringify(accounts)
  if (text === paintedCosts || accounts.length === 0) return
  paintedCosts = text
  const spent = spendOfAll(accounts.map((each) => each.spent))
  const expected = spendOfAll(accounts.flatMap(({ forecast }) => forecast ?? []))
  const budgets = accounts.flatMap(({ budget }) => (budget === null ? [] : [budget.monthInr]))
  setText(byId("spent"), amountText(spent))
  setText(byId("expected"), amountText(expected))
  byId("expected").classList.toggle("over", budgets.length === accounts.length && expected.amount > sumInr(budgets))
  setText(byId("budget"), budgets.length === accounts.length ? `budget ${priceText(sumInr(budgets))}` : "")
  setText(byId("spent-doubt"), doubtText(spent, Array.from(new Set(accounts.flatMap(({ currencies }) => currencies)))))
  const days = daysOf(accounts)
  const highest = Math.max(...days.map(({ amount }) => amount))
  setText(byId("highest-day"), highest === 0 ? "" : `highest ${priceText(highest)}`)
  byId("days").replaceChildren(...days.map((day) => dayBar(day, highest)))
}
