/**
 * What nodes cost by the prices of their plans, in groups. Pure. A committed node costs what its commitment cost, which the service
 * does not report: this is the hourly price.
 */
import type { Node } from "@berth/core/domain/Node"
import { label } from "@berth/core/domain/NodeStatus"
import type { Plan } from "@berth/core/domain/Plan"
import type { Cost } from "../../records/cost.ts"

/** What a row is about. */
export const groupings = ["node", "plan", "status"] as const
export type Grouping = (typeof groupings)[number]

/** Rounded to hundredths of a paisa: sums of decimals end in a rest of binary fractions. */
const rounded = (amount: number): number => Math.round(amount * 10_000) / 10_000

const sum = (amounts: ReadonlyArray<number>): number => rounded(amounts.reduce((total, each) => total + each, 0))

/** The one value that all have; null where they have several. */
const common = <A>(values: ReadonlyArray<A>): A | null =>
  values.every((value) => value === values[0]) ? (values[0] ?? null) : null

const rowOf = (name: string, id: number | null, nodes: ReadonlyArray<Node>, plans: ReadonlyMap<string, Plan>): Cost => {
  const priced = nodes.flatMap(({ plan }) => {
    const found = plans.get(plan ?? "")
    return found?.pricePerHourInr == null ? [] : [found]
  })
  return {
    name,
    id,
    status: common(nodes.map(({ status }) => label(status))),
    plan: common(nodes.map(({ plan }) => plan)),
    nodes: nodes.length,
    pricePerHourInr: priced.length === 0 ? null : sum(priced.map(({ pricePerHourInr }) => pricePerHourInr ?? 0)),
    pricePerMonthInr: priced.length === 0 ? null : sum(priced.map(({ pricePerMonthInr }) => pricePerMonthInr ?? 0)),
    offAndBilled: nodes.filter(({ status }) => status === "power-off").length,
    withoutPrice: nodes.length - priced.length
  }
}

/** A node whose termination has begun is billed no more. */
const isBilled = ({ status }: Node): boolean => status !== "terminate"

const groupOf = (node: Node, by: Grouping): string =>
  by === "node" ? String(node.id) : by === "plan" ? (node.plan ?? "not known") : label(node.status)

/** A row for each group, in the order in which they appear, and one for all. */
export const costs = (
  nodes: ReadonlyArray<Node>,
  plans: ReadonlyArray<Plan>,
  by: Grouping
): { readonly rows: ReadonlyArray<Cost>; readonly total: Cost } => {
  const byName = new Map(plans.map((plan) => [plan.plan, plan]))
  const billed = nodes.filter(isBilled)
  const groups = Map.groupBy(billed, (node) => groupOf(node, by))
  return {
    rows: Array.from(groups, ([group, members]) => {
      const [only] = members
      return by === "node" && only !== undefined
        ? rowOf(only.name, only.id, members, byName)
        : rowOf(group, null, members, byName)
    }),
    total: rowOf("total", null, billed, byName)
  }
}
