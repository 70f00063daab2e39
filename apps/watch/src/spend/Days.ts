/**
 * The spending of an account, with one row for each day on which its rates changed. A row has the rates at the end of
 * the day, and the total of the day if these rates stay. A day without a row continues with the rates of the row before
 * it, so the daemon writes nothing while nothing changes. A change may also lie in the past. Pure and exact: amounts
 * are integers.
 */
import { dayMillis, dayOf, dayStart } from "./calendar.ts"

/**
 * Rates at one instant. Multiplied by milliseconds, they are amounts. `low` and `high` are bounds of the spending, in
 * millionths of a rupee per hour. `assumed` is spending at a price that was read only later; neither bound includes it. `open`
 * is the number of nodes without an upper bound. `blind` is 1 while nothing was observed.
 */
export type Rates = readonly [low: bigint, high: bigint, assumed: bigint, open: bigint, blind: bigint]

export const zero: Rates = [0n, 0n, 0n, 0n, 0n]

export interface Day {
  /** The total of the day, if the rates stay until its end. */
  readonly amount: Rates
  readonly rates: Rates
  /** The last change within the day; the day's start if the last change was earlier. */
  readonly changedMillis: number
}

/** The days by number, ascending. */
export type Days = ReadonlyMap<number, Day>

/** From this instant on, the rates increase by these amounts. */
export type Step = readonly [atMillis: number, rates: Rates]

const combine = (a: Rates, b: Rates, weight: bigint): Rates => [
  a[0] + weight * b[0],
  a[1] + weight * b[1],
  a[2] + weight * b[2],
  a[3] + weight * b[3],
  a[4] + weight * b[4]
]

export const plus = (a: Rates, b: Rates): Rates => combine(a, b, 1n)
export const times = (rates: Rates, weight: bigint): Rates => combine(zero, rates, weight)

const isZero = (rates: Rates): boolean => rates.every((rate) => rate === 0n)

interface Change {
  amount: Rates
  rates: Rates
  changedMillis: number
}

/**
 * Adds steps to the days, and returns the numbers of the changed days as well. A step before the first day counts from the
 * start of that day.
 */
export const withSteps = (
  days: Days,
  steps: Iterable<Step>
): { readonly days: Days; readonly changed: ReadonlyArray<number> } => {
  const [firstDay = -Infinity] = days.keys()
  const changes = new Map<number, Change>()
  for (const [atMillis, rates] of steps) {
    const at = Math.round(firstDay === -Infinity ? atMillis : Math.max(atMillis, dayStart(firstDay)))
    const day = dayOf(at)
    const change = changes.get(day) ?? { amount: zero, rates: zero, changedMillis: at }
    change.amount = combine(change.amount, rates, BigInt(dayStart(day + 1) - at))
    change.rates = plus(change.rates, rates)
    change.changedMillis = Math.max(change.changedMillis, at)
    changes.set(day, change)
  }
  for (const [day, { amount, rates }] of changes) if (isZero(amount) && isZero(rates)) changes.delete(day)
  if (changes.size === 0) return { days, changed: [] }

  const numbers = Array.from(new Set([...days.keys(), ...changes.keys()])).sort((a, b) => a - b)
  const result = new Map<number, Day>()
  const changed: Array<number> = []
  let before = zero
  let higher = zero
  for (const day of numbers) {
    const known = days.get(day) ?? {
      amount: times(before, BigInt(dayMillis)),
      rates: before,
      changedMillis: dayStart(day)
    }
    before = known.rates
    const change = changes.get(day)
    if (change === undefined && isZero(higher)) {
      result.set(day, known)
      continue
    }
    const raised = combine(known.amount, higher, BigInt(dayMillis))
    if (change !== undefined) higher = plus(higher, change.rates)
    changed.push(day)
    result.set(day, {
      amount: change === undefined ? raised : plus(raised, change.amount),
      rates: plus(known.rates, higher),
      changedMillis: Math.max(known.changedMillis, change?.changedMillis ?? -Infinity)
    })
  }
  return { days: result, changed }
}

/**
 * The days from `first` on. If there is no row for `first`, the last row before it is included, because it has the initial
 * rates.
 */
export const daysFrom = (days: Days, first: number): Days => {
  const numbers = Array.from(days.keys())
  const begin = numbers.findLast((day) => day <= first)
  return begin === undefined || begin === numbers[0] ? days : new Map(Array.from(days).filter(([day]) => day >= begin))
}

/**
 * What was spent on each day of a period, which may extend into the future. If the period begins within a day, before a
 * change of that day, all that is known is that the amount is between zero and the amount of the whole day.
 */
export function* perDay(
  days: Days,
  fromMillis: number,
  toMillis: number
): Generator<{ readonly day: number; readonly fromMillis: number; readonly toMillis: number; readonly amount: Rates }> {
  const numbers = Array.from(days.keys())
  let index = -1
  for (let day = dayOf(fromMillis); dayStart(day) < toMillis; day++) {
    while (index + 1 < numbers.length && numbers[index + 1]! <= day) index++
    const last = index < 0 ? undefined : days.get(numbers[index]!)!
    const own = days.get(day)
    const rates = last?.rates ?? zero
    const from = Math.max(fromMillis, dayStart(day))
    const to = Math.min(toMillis, dayStart(day + 1))
    if (from >= to) continue
    // After its last change the rates of a day are known.
    const behind = (at: number) => times(rates, BigInt(dayStart(day + 1) - at))
    const changedMillis = own?.changedMillis ?? dayStart(day)
    const done = combine(own?.amount ?? times(rates, BigInt(dayMillis)), behind(to), -1n)
    const amount =
      from === dayStart(day)
        ? done
        : from >= changedMillis
          ? times(rates, BigInt(to - from))
          : partOf(done, BigInt(to - from), BigInt(to - dayStart(day)))
    yield { day, fromMillis: from, toMillis: to, amount }
  }
}

/**
 * The part of a day's amount after an instant, if rates changed after that instant. How much came before the instant is not
 * stored, so this is only a bound or an estimate.
 */
const partOf = ([, high, assumed, open, blind]: Rates, millis: bigint, ofMillis: bigint): Rates => [
  0n,
  high,
  (assumed * millis) / ofMillis,
  open,
  (blind * millis) / ofMillis
]

export const sumOf = (parts: Iterable<{ readonly amount: Rates }>): Rates => {
  let total = zero
  for (const { amount } of parts) total = plus(total, amount)
  return total
}

/** The rates after the last change. */
export const lastRates = (days: Days): Rates => Array.from(days.values()).at(-1)?.rates ?? zero
