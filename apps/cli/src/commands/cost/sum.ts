/**
 * What nodes cost by the price of their plan and image, in groups. Pure. A committed node costs what its commitment cost, which the
 * service does not report: where berth's own record has it, it is that price, and the hourly one otherwise.
 */
import type { Node } from "@berth/core/domain/Node"
import { label } from "@berth/core/domain/NodeStatus"
import { type Price, type PriceList, sumOfPrices } from "@berth/core/domain/Price"
import { DateTime } from "effect"
import { committedPrice, committedUntil, type Entry } from "../../commitmentLog/CommitmentLog.ts"
import type { Cost } from "../../records/cost.ts"

/** What a row is about. */
export const groupings = ["node", "plan", "status"] as const
export type Grouping = (typeof groupings)[number]

/** The one value that all have; null where they have several. */
const common = <A>(values: ReadonlyArray<A>): A | null =>
  values.every((value) => value === values[0]) ? (values[0] ?? null) : null

/** What prices a node: the image list, and what berth itself has committed it to. */
export interface Pricing {
  readonly prices: PriceList
  readonly own: ReadonlyMap<number, Entry>
  readonly nowMillis: number
}

const priceOf = (node: Node, { nowMillis, own, prices }: Pricing): Price =>
  committedPrice(own.get(node.id), nowMillis) ?? prices.ofNode(node).price

const rowOf = (name: string, id: number | null, nodes: ReadonlyArray<Node>, pricing: Pricing): Cost => {
  const each = nodes.map((node) => priceOf(node, pricing))
  const until = nodes.map(({ id }) => committedUntil(pricing.own.get(id), pricing.nowMillis))
  const commonUntil = common(until)
  return {
    name,
    id,
    status: common(nodes.map(({ status }) => label(status))),
    plan: common(nodes.map(({ plan }) => plan)),
    nodes: nodes.length,
    ...sumOfPrices(each),
    committed: until.filter((end) => end !== null).length,
    committedUntil: commonUntil === null ? null : DateTime.makeUnsafe(commonUntil),
    offAndBilled: nodes.filter(({ status }) => status === "power-off").length,
    withoutPrice: each.filter(({ pricePerHourInr }) => pricePerHourInr === null).length
  }
}

/** Whether a node whose termination has begun is still billed is not documented: it has no row, and is counted. */
const isEnding = ({ status }: Node): boolean => status === "terminate"

const groupOf = (node: Node, by: Grouping): string =>
  by === "node" ? String(node.id) : by === "plan" ? (node.plan ?? "not known") : label(node.status)

/** A row for each group, in the order in which they appear, and one for all. */
export const costs = (
  nodes: ReadonlyArray<Node>,
  pricing: Pricing,
  by: Grouping
): { readonly rows: ReadonlyArray<Cost>; readonly total: Cost; readonly ending: number } => {
  const [billed, ending] = [nodes.filter((node) => !isEnding(node)), nodes.filter(isEnding)]
  const groups = Map.groupBy(billed, (node) => groupOf(node, by))
  return {
    rows: Array.from(groups, ([group, members]) => {
      const [only] = members
      return by === "node" && only !== undefined
        ? rowOf(only.name, only.id, members, pricing)
        : rowOf(group, null, members, pricing)
    }),
    total: rowOf("total", null, billed, pricing),
    ending: ending.length
  }
}
