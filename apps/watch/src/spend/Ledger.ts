/**
 * What is known for good of the spending of an account: its days, how many nodes there are of each plan and image at which prices,
 * and what was reported. No node has a place of its own in it but one that was reported. Pure.
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

/** Nodes of the same plan and image. */
export interface Group {
  readonly plan: string | null
  readonly image: string | null
  /** How many there are now. */
  readonly count: number
  readonly prices: ReadonlyArray<PriceStep>
  /** Beginnings and ends that a change of the price may still concern: it is believed only later. */
  readonly recent: ReadonlyArray<Lives>
}

export const AlertMarks = Schema.Struct({
  /** What was reported of months, by the versions of those reports. */
  reported: Schema.Array(Schema.String),
  /** Nodes that were reported, and since when they are what they were reported for. */
  nodes: Schema.Array(Schema.Tuple([Schema.Int, Schema.String]))
})
export type AlertMarks = typeof AlertMarks.Type

export const Budget = Schema.Struct({
  /** In rupees. */
  monthInr: Schema.Finite,
  /** Shares of it that are reported when they are reached, in percent. */
  warnPercent: Schema.Array(Schema.Finite)
})
export interface Budget extends Schema.Schema.Type<typeof Budget> {}

export interface Ledger {
  /** When the nodes were first known. */
  readonly sinceMillis: number
  /** When prices were first read; null before. */
  readonly pricedMillis: number | null
  /** Plans whose price changed since, and when it had. */
  readonly changedPlans: ReadonlyMap<string, number>
  /** Currencies other than rupees in which plans are priced: what nodes on these cost is in no amount. */
  readonly currencies?: ReadonlyArray<string>
  readonly groups: ReadonlyMap<string, Group>
  /** This month's and those just before. */
  readonly days: Days
  readonly budget: Budget | null
  readonly marks: AlertMarks
}

const noMarks: AlertMarks = { reported: [], nodes: [] }

export const keyOf = (plan: string | null, image: string | null): string => JSON.stringify([plan, image])

/** More beginnings and ends are not kept between two reads of the prices. */
const maxRecent = 5000

/** How long after a month its days may still change. */
const lateMillis = 3 * 86_400_000

/** The days that may still change. */
export const openDays = (days: Days, nowMillis: number): Days =>
  daysFrom(days, dayOf(monthOf(nowMillis - lateMillis).fromMillis))

/** Nothing is observed. */
const blind: Rates = [0n, 0n, 0n, 0n, 1n]

/** A node whose end is known by no bound. */
const open: Rates = [0n, 0n, 0n, 1n, 0n]

/** The rates are higher by these for a time. */
const during = (rates: Rates, fromMillis: number, toMillis: number): ReadonlyArray<Step> => [
  [fromMillis, rates],
  [toMillis, times(rates, -1n)]
]

/** Of an account whose nodes were not known before: the days of the month until then are blind. */
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

/** A ledger in the making, and the days that have to be written. */
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

  /** Time in which nothing was observed. */
  addBlind(fromMillis: number, toMillis: number): void {
    this.add(during(blind, fromMillis, toMillis))
  }

  /** One node whose end is known by no bound: what the days from its begin on have is a lower one. */
  addOpen(endMillis: number): void {
    this.add(during(open, endMillis - 1, endMillis))
  }

  /** Nodes of a plan and image that begin or end. `price`: as the catalogue has it, where no node had it yet. */
  addLives(plan: string | null, image: string | null, price: HourlyPrice, lives: ReadonlyArray<Lives>): void {
    const key = keyOf(plan, image)
    const group = this.#groups.get(key) ?? this.before.groups.get(key) ?? this.#newGroup(plan, image, price)
    this.add(stepsOf(group.prices, lives))
    let count = group.count
    for (const life of lives) if (life.side !== "low") count += life.count
    // The first read of the prices looks at the nodes themselves.
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
   * A group has another price. Of a price that is read for the first time, `lives` are its nodes; otherwise what it came to since is
   * corrected for those that there are, and for those that there were.
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

  /** No change of a price will concern what was before. */
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

/** The prices from an instant on: what was before it changes no more. */
const pricesFrom = (prices: ReadonlyArray<PriceStep>, fromMillis: number): ReadonlyArray<PriceStep> => {
  const first = prices.findLastIndex((price) => price.fromMillis <= fromMillis)
  return prices.slice(first).map((price, index) => (index === 0 ? { ...price, fromMillis: -Infinity } : price))
}

/** The nodes of a group at an instant, and what began and ended since. */
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
