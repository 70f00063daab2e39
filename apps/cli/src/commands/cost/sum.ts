/**
 * What nodes cost by the price of their plan and image, in groups. Pure. A committed node costs what its commitment cost, which the
 * service does not report: this is the hourly price.
 */
import type { Node } from "@berth/core/domain/Node"
import { label } from "@berth/core/domain/NodeStatus"
import { type PriceList, sumOfPrices } from "@berth/core/domain/Price"
import type { Cost } from "../../records/cost.ts"

/** What a row is about. */
export const groupings = ["node", "plan", "status"] as const
export type Grouping = (typeof groupings)[number]

/** The one value that all have; null where they have several. */
const common = <A>(values: ReadonlyArray<A>): A | null =>
  values.every((value) => value === values[0]) ? (values[0] ?? null) : null

const rowOf = (name: string, id: number | null, nodes: ReadonlyArray<Node>, prices: PriceList): Cost => {
  const each = nodes.map((node) => prices.ofNode(node).price)
  return {
    name,
    id,
    status: common(nodes.map(({ status }) => label(status))),
    plan: common(nodes.map(({ plan }) => plan)),
    nodes: nodes.length,
    ...sumOfPrices(each),
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
  prices: PriceList,
  by: Grouping
): { readonly rows: ReadonlyArray<Cost>; readonly total: Cost; readonly ending: number } => {
  const [billed, ending] = [nodes.filter((node) => !isEnding(node)), nodes.filter(isEnding)]
  const groups = Map.groupBy(billed, (node) => groupOf(node, by))
  return {
    rows: Array.from(groups, ([group, members]) => {
      const [only] = members
      return by === "node" && only !== undefined
        ? rowOf(only.name, only.id, members, prices)
        : rowOf(group, null, members, prices)
    }),
    total: rowOf("total", null, billed, prices),
    ending: ending.length
  }
}
