/**
 * The ledger: the stored knowledge about the spending of an account. It holds the spending by day, the number of nodes and the prices
 * for each plan and image, and the alerts that were reported. It names a single node only if an alert was about that node. Pure.
 */
import { Schema } from "effect"
import { dayOf, dayStart, monthOf } from "./calendar.ts"
import { type Days, daysFrom, type Rates, type Step, times, withSteps } from "./Days.ts"
import {
  changedBetween,
  type HourlyPrice,
  isUnknown,
  type Lives,
  type PriceStep,
  readFirst,
  stepsOf
} from "./PriceSteps.ts"

/** Nodes with the same plan and image. */
export interface Group {
  readonly plan: string | null
  readonly image: string | null
  /** How many of these nodes exist now. */
  readonly count: number
  readonly prices: ReadonlyArray<PriceStep>
  /** Starts and ends of nodes that a price change may still affect. The daemon believes a price change only some time after it happened. */
  readonly recent: ReadonlyArray<Lives>
}

export const AlertMarks = Schema.Struct({
  /** The versions of the monthly alerts reported so far. */
  reported: Schema.Array(Schema.String),
  /** The nodes with a reported alert; the text says which alert, and since when its reason holds. */
  nodes: Schema.Array(Schema.Tuple([Schema.Int, Schema.String]))
})
export type AlertMarks = typeof AlertMarks.Type

export const Budget = Schema.Struct({
  /** The budget per calendar month, in rupees. */
  monthInr: Schema.Finite,
  /** Shares of the budget, in percent, at which an alert is sent. */
  warnPercent: Schema.Array(Schema.Finite)
})
export interface Budget extends Schema.Schema.Type<typeof Budget> {}

export interface Ledger {
  /** When the account's nodes were first known. */
  readonly sinceMillis: number
  /** When prices were first read; null before. */
  readonly pricedMillis: number | null
  /** Plans whose price has changed since prices were first read, and when. */
  readonly changedPlans: ReadonlyMap<string, number>
  /** Currencies other than rupees in which plans are priced. The amounts leave out nodes on these plans. */
  readonly currencies?: ReadonlyArray<string>
  readonly groups: ReadonlyMap<string, Group>
  /** The days of this month, and earlier days that may still change. */
  readonly days: Days
  readonly budget: Budget | null
  readonly marks: AlertMarks
}

const noMarks: AlertMarks = { reported: [], nodes: [] }

export const keyOf = (plan: string | null, image: string | null): string => JSON.stringify([plan, image])

/** Maximum number of starts and ends that are kept between two reads of the prices. */
const maxRecent = 5000

/** The days of a month may still change for this long after its end. */
const lateMillis = 3 * 86_400_000

/** The days that may still change. */
export const openDays = (days: Days, nowMillis: number): Days =>
  daysFrom(days, dayOf(monthOf(nowMillis - lateMillis).fromMillis))

/** The rates while nothing is observed. */
const blind: Rates = [0n, 0n, 0n, 0n, 1n]

/** The steps that increase the rates for a period. */
const during = (rates: Rates, fromMillis: number, toMillis: number): ReadonlyArray<Step> => [
  [fromMillis, rates],
  [toMillis, times(rates, -1n)]
]

/** The first ledger of an account. The part of the month that has already passed counts as not observed. */
export const begin = (nowMillis: number, pricedMillis: number | null): Ledger => {
  const { fromMillis } = monthOf(nowMillis)
  return {
    sinceMillis: nowMillis,
    pricedMillis,
    changedPlans: new Map(),
    groups: new Map(),
    days: withSteps(new Map(), during(blind, fromMillis, nowMillis)).days,
    budget: null,
    marks: noMarks
  }
}

/** A ledger under construction, and the days that must be written. */
export class LedgerDraft {
  readonly before: Ledger
  readonly changedDays = new Set<number>()
  readonly #groups = new Map<string, Group>()
  #days: Days
  #change: Partial<Ledger> = {}

  constructor(before: Ledger, isNew: boolean) {
    this.before = before
    this.#days = before.days
    if (isNew) for (const day of before.days.keys()) this.changedDays.add(day)
  }

  get groups(): Iterable<Group> {
    return new Map([...this.before.groups, ...this.#groups]).values()
  }

  set(change: Partial<Pick<Ledger, "pricedMillis" | "changedPlans" | "currencies" | "budget" | "marks">>): void {
    this.#change = { ...this.#change, ...change }
  }

  add(steps: Iterable<Step>): void {
    const { changed, days } = withSteps(this.#days, steps)
    this.#days = days
    for (const day of changed) this.changedDays.add(day)
  }

  /** Adds time in which nothing was observed. */
  addBlind(fromMillis: number, toMillis: number): void {
    this.add(during(blind, fromMillis, toMillis))
  }

  /**
   * Adds nodes of a plan and image that start or end. `price`: the current price, used if no node had this plan and
   * image before.
   */
  addLives(plan: string | null, image: string | null, price: HourlyPrice, lives: ReadonlyArray<Lives>): void {
    const key = keyOf(plan, image)
    const group = this.#groups.get(key) ?? this.before.groups.get(key) ?? this.#newGroup(plan, image, price)
    this.add(stepsOf(group.prices, lives))
    let count = group.count
    for (const life of lives) if (life.side !== "low") count += life.count
    // Before prices are known, starts and ends need not be kept, because the first read of the prices looks at the nodes
    // themselves.
    const since = this.before.pricedMillis ?? Infinity
    const recent = [...group.recent, ...lives.filter(({ fromMillis }) => fromMillis > since)]
    this.#groups.set(key, { ...group, count, recent: recent.length > maxRecent ? recent.slice(-maxRecent) : recent })
  }

  #newGroup(plan: string | null, image: string | null, price: HourlyPrice): Group {
    const { changedPlans, pricedMillis } = { ...this.before, ...this.#change }
    const known = changedPlans.get(plan ?? "") ?? pricedMillis
    return {
      plan,
      image,
      count: 0,
      prices: readFirst(known === null ? { low: 0, high: null } : price, known ?? 0),
      recent: []
    }
  }

  /**
   * Sets a new price of a group. If the group had no price before, it applies to the nodes that exist now (`lives`). Otherwise
   * the amounts since the change are corrected for current and past nodes.
   */
  reprice(group: Group, price: HourlyPrice, between: readonly [number, number], lives: () => Iterable<Lives>): void {
    const isFirst = group.prices.every(isUnknown)
    const changed = isFirst ? readFirst(price, between[1]) : changedBetween(group.prices, price, between)
    const concerned = isFirst ? Array.from(lives()) : livesSince(group, changed.at(-2)!.fromMillis)
    const [firstDay = 0] = this.#days.keys()
    const prices = pricesFrom(changed, dayStart(firstDay))
    this.add(stepsOf(group.prices, concerned, -1))
    this.add(stepsOf(changed, concerned))
    this.#groups.set(keyOf(group.plan, group.image), { ...group, prices })
  }

  /** Drops starts and ends before this instant, because price changes can no longer affect them. */
  confirm(beforeMillis: number): void {
    for (const group of this.groups) {
      const recent = group.recent.filter(({ fromMillis }) => fromMillis > beforeMillis)
      if (recent.length === group.recent.length) continue
      this.#groups.set(keyOf(group.plan, group.image), { ...group, recent })
    }
  }

  result(nowMillis: number): Ledger {
    if (this.#groups.size === 0 && this.changedDays.size === 0 && Object.keys(this.#change).length === 0) {
      return this.before
    }
    const groups = new Map([...this.before.groups, ...this.#groups])
    for (const [key, { count, recent }] of groups) if (count === 0 && recent.length === 0) groups.delete(key)
    return { ...this.before, ...this.#change, groups, days: openDays(this.#days, nowMillis) }
  }
}

/**
 * The prices that apply from an instant on. Older ones are dropped, because amounts before the instant no longer change.
 */
const pricesFrom = (prices: ReadonlyArray<PriceStep>, fromMillis: number): ReadonlyArray<PriceStep> => {
  const first = prices.findLastIndex((price) => price.fromMillis <= fromMillis)
  return prices.slice(first).map((price, index) => (index === 0 ? { ...price, fromMillis: -Infinity } : price))
}

/** The nodes that a group had at an instant, and the starts and ends since then. */
const livesSince = ({ count, recent }: Group, fromMillis: number): ReadonlyArray<Lives> => {
  const later = recent.filter((life) => life.fromMillis > fromMillis)
  const since = (side: "low" | "high") =>
    later.reduce((sum, life) => (life.side === "both" || life.side === side ? sum + life.count : sum), 0)
  return [
    { fromMillis, count: count - since("low"), side: "low" },
    { fromMillis, count: count - since("high"), side: "high" },
    ...later
  ]
}
