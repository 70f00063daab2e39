/** Sorting, filtering, pricing and counting of nodes. Pure. */
import { statusOrder } from "@berthkit/web/components/statuses"
import type { PricedPlan, WatchedNode } from "./watchApi.ts"
import { type Price, statusText } from "./wording.ts"

/** A node with values that are needed often. */
export interface NodeRow extends Omit<WatchedNode, "status"> {
  /** The key of the node, made of its account and id. */
  readonly key: string
  readonly status: string
  readonly createdMillis: number | null
  readonly sinceMillis: number | null
  /** The name for sorting and searching, made at the first use. */
  sortName?: string
  text?: string
}

export const keyOf = (account: string, id: number): string => `${account}/${id}`

/** Sorts `web-9` before `web-10`, and `10.0.0.9` before `10.0.0.10`. */
const sortable = (text: string): string => text.replace(/\d+/g, (digits) => digits.padStart(12, "0"))

const millisOf = (instant: string | null): number | null => (instant === null ? null : Date.parse(instant))

export const toRow = (node: WatchedNode): NodeRow => {
  return {
    ...node,
    key: keyOf(node.account, node.id),
    status: statusText(node.status),
    createdMillis: millisOf(node.createdAt),
    sinceMillis: millisOf(node.statusSince)
  }
}

const sortNameOf = (node: NodeRow): string => (node.sortName ??= sortable(node.name.toLowerCase()))

const textOf = (node: NodeRow): string =>
  (node.text ??= [node.id, node.name, node.status, node.plan, node.publicIp, node.privateIp, node.account, ...node.tags]
    .join(" ")
    .toLowerCase())

export const addressOf = ({ privateIp, publicIp }: NodeRow): string | null => publicIp ?? privateIp

// ---- prices

/** Prices by account and plan. */
export type Prices = ReadonlyMap<string, ReadonlyMap<string, PriceOfPlan>>

interface PriceOfPlan {
  readonly ofPlan: Price
  readonly byImage: ReadonlyMap<string, Price>
}

const unknownPrice: Price = { atLeast: null, isExact: false }

const monthly = (price: Pick<PricedPlan, "minPricePerMonthInr" | "pricePerMonthInr">): Price => ({
  atLeast: price.minPricePerMonthInr,
  isExact: price.pricePerMonthInr !== null
})

export const pricesOf = (plans: ReadonlyArray<PricedPlan>): Prices => {
  const prices = new Map<string, Map<string, PriceOfPlan>>()
  for (const { account, plan, prices: ofImages, slugs, ...price } of plans) {
    const ofAccount = prices.get(account) ?? new Map<string, PriceOfPlan>()
    prices.set(account, ofAccount)
    const byImage = new Map(ofImages.flatMap((each) => each.images.map((image) => [image, monthly(each)] as const)))
    const known = { ofPlan: monthly(price), byImage }
    ofAccount.set(plan, known)
    // A node may show a slug, which belongs to a single image.
    for (const { image, slug } of slugs) ofAccount.set(slug, { ...known, ofPlan: byImage.get(image) ?? known.ofPlan })
  }
  return prices
}

/**
 * The monthly price of a node: the price that the daemon knows for its plan and image, or the price of its plan if the image is unknown.
 */
export const priceOf = (
  prices: Prices,
  { account, image, plan }: Pick<NodeRow, "account" | "image" | "plan">
): Price => {
  const known = plan === null ? undefined : prices.get(account)?.get(plan)
  return (image === null ? undefined : known?.byImage.get(image)) ?? known?.ofPlan ?? unknownPrice
}

/** The minimum monthly cost of nodes in rupees, by a property such as the plan. */
export interface Costs {
  readonly total: Price
  readonly byName: ReadonlyArray<{ readonly name: string; readonly price: number; readonly nodes: number }>
  /** Nodes without an exact price, which may cost more. */
  readonly unpriced: number
}

/** `namesOf`: the names to which a node's price is added. Most expensive first. */
export const costsOf = (
  prices: Prices,
  nodes: ReadonlyArray<NodeRow>,
  namesOf: (node: NodeRow) => ReadonlyArray<string>
): Costs => {
  const sums = new Map<string, { paise: number; nodes: number }>()
  let unpriced = 0
  let total = 0
  for (const node of nodes) {
    const { atLeast, isExact } = priceOf(prices, node)
    if (!isExact) unpriced++
    if (atLeast === null) continue
    // In paise, whose sums are exact.
    const paise = Math.round(atLeast * 100)
    total += paise
    for (const name of namesOf(node)) {
      const sum = sums.get(name)
      if (sum === undefined) sums.set(name, { paise, nodes: 1 })
      else {
        sum.paise += paise
        sum.nodes += 1
      }
    }
  }
  const byName = Array.from(sums, ([name, { nodes, paise }]) => ({ name, nodes, price: paise / 100 }))
  return {
    total: { atLeast: total / 100, isExact: unpriced === 0 },
    byName: byName.sort((a, b) => b.price - a.price || compare(a.name, b.name)),
    unpriced
  }
}

/** How many nodes have each status, in the order of statuses. */
export const countsByStatus = (nodes: ReadonlyArray<NodeRow>): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const { status } of nodes) counts.set(status, (counts.get(status) ?? 0) + 1)
  return new Map(Array.from(counts).sort(([a], [b]) => statusOrder(a) - statusOrder(b)))
}

// ---- what is shown

export type ColumnName = "name" | "account" | "status" | "plan" | "address" | "age" | "price"

/** The columns to sort by. */
export const columns: ReadonlyArray<{
  readonly name: ColumnName
  readonly title: string
  readonly value: (node: NodeRow, prices: Prices) => string | number
}> = [
  { name: "name", title: "Name", value: sortNameOf },
  { name: "account", title: "Account", value: ({ account }) => account },
  { name: "status", title: "Status", value: ({ status }) => statusOrder(status) },
  { name: "plan", title: "Plan", value: ({ plan }) => plan ?? "" },
  { name: "address", title: "Address", value: (node) => sortable(addressOf(node) ?? "") },
  { name: "age", title: "Age", value: ({ createdMillis }) => -(createdMillis ?? 0) },
  { name: "price", title: "Per month", value: (node, prices) => priceOf(prices, node).atLeast ?? -1 }
]

export interface Sort {
  readonly by: ColumnName
  readonly isDescending: boolean
}

/** The filters of the view; empty strings show everything. */
export interface View {
  readonly account: string
  readonly status: string
  readonly filter: string
  readonly sort: Sort
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0)

/** The nodes to show, in order. */
export const shownNodes = (
  nodes: Iterable<NodeRow>,
  prices: Prices,
  { account, filter, sort: { by, isDescending }, status }: View
): ReadonlyArray<NodeRow> => {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
  const { value } = columns.find(({ name }) => name === by)!
  const sign = isDescending ? -1 : 1
  const rows: Array<readonly [string | number, NodeRow]> = []
  for (const node of nodes) {
    if (account !== "" && node.account !== account) continue
    if (status !== "" && node.status !== status) continue
    if (words.every((word) => textOf(node).includes(word))) rows.push([value(node, prices), node])
  }
  return rows.sort(([a, nodeA], [b, nodeB]) => sign * compare(a, b) || nodeA.id - nodeB.id).map(([, node]) => node)
}
