/**
 * Computes what a plan costs: each change before and after it, the sums, and the peak while both old and new nodes exist. Pure.
 */
import type { CommittedOption } from "@berthkit/core/domain/Commitment"
import { sumIfKnown, sumInr } from "@berthkit/core/domain/Money"
import {
  committedPerHour,
  costOfOrder,
  maxPerHourOf,
  type Price,
  type PriceList,
  sumOfPrices
} from "@berthkit/core/domain/Price"
import type { Change, LoadedGroup, Plan } from "./Change.ts"
import type { Group } from "./FleetFile.ts"

/** The committed options whose period is as long as that of the group's commitment. */
export const optionsOf = ({ commitment, order }: Group, prices: PriceList): ReadonlyArray<CommittedOption> =>
  commitment === null || commitment.days === null
    ? []
    : prices.ofOrder(order).committedOptions.filter(({ days }) => days === commitment.days)

/** The committed option that the group buys; undefined if it buys none, or if it is unknown which option it buys. */
export const optionOf = (group: Group, prices: PriceList): CommittedOption | undefined => {
  const [option, ...others] = optionsOf(group, prices)
  return others.length === 0 ? option : undefined
}

/** The cost of a member's node before and after a change; nothing if there is no node. */
export interface ChangePrice {
  readonly now: Price | null
  readonly after: Price | null
  /** The price of the committed period that the change buys immediately; null if unknown, 0 if it buys none. */
  readonly committedInr: number | null
  /** The committed option that the change buys, if the option is known. */
  readonly option?: CommittedOption | undefined
  /** The minimum charge of the node that the change creates; null if unknown, 0 if it creates none. */
  readonly minimumInr: number | null
  /** The hourly price of the period that it buys; 0 if it buys none or the price is unknown. */
  readonly committedPerHourInr?: number
}

const running = (now: Price | null, after: Price | null): ChangePrice => ({
  now,
  after,
  committedInr: 0,
  minimumInr: 0
})

const ordered = (group: LoadedGroup, now: Price | null, prices: PriceList): ChangePrice => {
  const cost = costOfOrder(prices.ofOrder(group.order))
  return { now, after: cost.price, committedInr: 0, minimumInr: cost.minimumBillingInr }
}

export const priceOf = (change: Change, prices: PriceList): ChangePrice => {
  switch (change.action) {
    case "create":
      return ordered(change.group, null, prices)
    case "delete":
      return running(
        sumOfPrices([change.node, ...(change.old ? [change.old] : [])].map((node) => prices.ofNode(node).price)),
        null
      )
    case "replace": {
      const old = prices.ofNode(change.old).price
      if (change.made === null) return ordered(change.group, old, prices)
      const made = prices.ofNode(change.made).price
      return running(sumOfPrices([old, made]), made)
    }
    case "differs": {
      const old = change.old === null ? [] : [prices.ofNode(change.old).price]
      const price = sumOfPrices([prices.ofNode(change.node).price, ...old])
      return running(price, price)
    }
    case "commit": {
      const { group, node } = change
      const price = node === null ? null : prices.ofNode(node).price
      const option = optionOf(group, prices)
      const isBought = group.commitment?.days !== null
      const committedInr = !isBought ? 0 : (option?.priceInr ?? null)
      const days = group.commitment?.days ?? null
      const committedPerHourInr = committedInr === null || days === null ? 0 : committedPerHour(committedInr, days)
      return { ...running(price, price), committedInr, committedPerHourInr, option }
    }
    case "unsure":
    case "unchanged":
    case "kept":
    case "doubled": {
      const { price } = prices.ofNode(change.node)
      return running(price, price)
    }
    case "doubted": {
      const { price } = prices.ofNode(change.owned)
      return running(price, price)
    }
    case "forfeit":
    case "settle":
      return running(null, null)
  }
}

/**
 * The cost of the fleet before and after the plan, and the difference. The difference is known if the prices of all changed members are
 * known.
 */
export interface PlanPrice {
  readonly now: Price
  readonly after: Price
  /**
   * The highest cost per hour of all nodes that exist at the same time, in rupees; null if unknown. Old nodes count until they are deleted.
   */
  readonly peakPerHourInr: number | null
  readonly differencePerHourInr: number | null
  readonly differencePerMonthInr: number | null
  /** The price of all committed periods that the plan buys; null if one is unknown. */
  readonly committedInr: number | null
  /** The sum of the minimum charges of the nodes that the plan creates; null if one is unknown. */
  readonly minimumInr: number | null
}

/** The difference of two prices; null if one is unknown. A missing node costs nothing. */
export const differenceOf = (
  { after, now }: Pick<ChangePrice, "now" | "after">,
  key: "pricePerHourInr" | "pricePerMonthInr"
): number | null => {
  const [before, later] = [now === null ? 0 : now[key], after === null ? 0 : after[key]]
  return before === null || later === null ? (now === after ? 0 : null) : sumInr([later, -before])
}

/**
 * The peak cost of a plan. Deletes come last, so it includes all existing nodes and all creates. Each replacement adds the amount by
 * which its new node costs more. At most `atOnce` replacements are under way at a time, and both of their nodes count. Each committed
 * period adds its cost in addition to the hourly price.
 */
const peakOf = (
  changes: ReadonlyArray<Change>,
  each: ReadonlyArray<ChangePrice>,
  prices: PriceList,
  atOnce: number
): number | null => {
  const most = (price: Price | null) => (price === null ? 0 : maxPerHourOf(price))
  const made = ({ after, minimumInr }: ChangePrice) => (after === null ? 0 : maxPerHourOf(after, minimumInr))
  const now = each.map((price) => most(price.now))
  const creates = changes.flatMap(({ action }, i) => (action === "create" ? [made(each[i]!)] : []))
  const periods = changes.flatMap((change, i) => {
    const { committedPerHourInr = 0, now } = each[i]!
    if (change.action !== "commit" || committedPerHourInr === 0) return []
    const byHour = most(change.node === null ? prices.ofOrder(change.group.order).price : now)
    return byHour === null ? [null] : [Math.max(0, sumInr([committedPerHourInr, -byHour]))]
  })
  const replaces = changes.flatMap((change, i) => {
    if (change.action !== "replace" || change.made !== null) return []
    const [from, to] = [most(each[i]!.now), made(each[i]!)]
    return from === null || to === null
      ? [null]
      : [{ more: Math.max(0, sumInr([to, -from])), both: Math.min(from, to) }]
  })
  const known = replaces.flatMap((replace) => replace ?? [])
  const underWay = known.map(({ both }) => both).toSorted((a, b) => b - a)
  return known.length < replaces.length
    ? null
    : sumIfKnown([...now, ...creates, ...periods, ...known.map(({ more }) => more), ...underWay.slice(0, atOnce)])
}

/** Computes the cost of a plan. `atOnce` is how many nodes are replaced at a time. */
export const planPrice = ({ changes }: Plan, prices: PriceList, atOnce = 1): PlanPrice => {
  const each = changes.map((change) => priceOf(change, prices))
  const sum = (key: "pricePerHourInr" | "pricePerMonthInr") => sumIfKnown(each.map((price) => differenceOf(price, key)))
  return {
    now: sumOfPrices(each.flatMap(({ now }) => now ?? [])),
    after: sumOfPrices(each.flatMap(({ after }) => after ?? [])),
    peakPerHourInr: peakOf(changes, each, prices, atOnce),
    differencePerHourInr: sum("pricePerHourInr"),
    differencePerMonthInr: sum("pricePerMonthInr"),
    committedInr: sumIfKnown(each.map(({ committedInr }) => committedInr)),
    minimumInr: sumIfKnown(each.map(({ minimumInr }) => minimumInr))
  }
}
