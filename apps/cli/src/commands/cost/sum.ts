/**
 * Computes the cost of nodes by the price of their plan and image, in groups. Pure. The service does not report the price of a
 * commitment. Berth takes this price from its own record; a committed node without a record has the hourly price.
 */
import type { LeftOutRecord } from "@berthkit/core/client/listing/Listed"
import type { ForeignPrice } from "@berthkit/core/domain/Image"
import { sumIfKnown } from "@berthkit/core/domain/Money"
import type { Node } from "@berthkit/core/domain/Node"
import { label } from "@berthkit/core/domain/NodeStatus"
import { type Price, type PriceList, sumOfPrices, unknownPrice } from "@berthkit/core/domain/Price"
import { DateTime } from "effect"
import { committedPrice, committedUntil, type Entry } from "../../commitmentLog/CommitmentLog.ts"
import type { Cost } from "../../records/cost.ts"

/** The things that a row can represent. */
export const groupings = ["node", "plan", "status", "fleet", "tag"] as const
export type Grouping = (typeof groupings)[number]

/** The value that all elements share; null if they differ. */
const common = <A>(values: ReadonlyArray<A>): A | null =>
  values.every((value) => value === values[0]) ? (values[0] ?? null) : null

/** A node's fleet, member and tags in the ledgers of this machine. */
interface Membership {
  readonly fleet: string
  readonly tags: ReadonlyArray<string>
}

/** The sources of a node's price: the image list, and the commitments that berth has set. */
export interface Pricing {
  /** The nodes that are in a fleet of this machine; set only if nodes are grouped by fleet or tag. */
  readonly fleets?: ReadonlyMap<number, Membership>
  readonly prices: PriceList
  readonly own: ReadonlyMap<number, Entry>
  readonly nowMillis: number
}

/** A node of the list, or an unreadable record that may be one. */
type Member = Node | LeftOutRecord

const isNode = (member: Member): member is Node => !("_tag" in member)

/** The group of a member whose record does not have the value to group by. */
const notKnown = "not known"

/** The billed members and their prices. */
interface Billed extends Pricing {
  readonly priceOf: (member: Member) => Price
  /** The price, if it is in a currency other than rupees. */
  readonly foreignOf: (member: Member) => ForeignPrice | null
}

/** If two records have the same id, it is unknown which one describes the node, so its price is unknown. */
const billedBy = (pricing: Pricing, unreadable: ReadonlyArray<LeftOutRecord>): Billed => {
  const { nowMillis, own, prices } = pricing
  const contradicted = new Set(unreadable.map(({ id }) => id))
  const priceOf = (member: Member): Price =>
    isNode(member) && !contradicted.has(member.id)
      ? (committedPrice(own.get(member.id), nowMillis) ?? prices.ofNode(member).price)
      : unknownPrice
  const foreignOf = (member: Member): ForeignPrice | null =>
    isNode(member) && !contradicted.has(member.id) && committedUntil(own.get(member.id), nowMillis) === null
      ? prices.ofNode(member).foreignPrice
      : null
  return { ...pricing, priceOf, foreignOf }
}

/** The sum of the nodes' prices in each currency other than rupees. */
const foreignSums = (prices: ReadonlyArray<ForeignPrice | null>): Cost["foreign"] =>
  Array.from(
    Map.groupBy(
      prices.filter((price) => price !== null),
      ({ currency }) => currency
    ),
    ([currency, same]) => ({
      currency,
      nodes: same.length,
      perHour: sumIfKnown(same.map(({ perHour }) => perHour)),
      perMonth: sumIfKnown(same.map(({ perMonth }) => perMonth))
    })
  )

const rowOf = (name: string, id: number | null, members: ReadonlyArray<Member>, billed: Billed): Cost => {
  const nodes = members.filter(isNode)
  const each = members.map(billed.priceOf)
  const until = members.map((member) =>
    isNode(member) ? committedUntil(billed.own.get(member.id), billed.nowMillis) : null
  )
  const commonUntil = common(until)
  return {
    name,
    id,
    status: common(members.map((member) => (isNode(member) ? label(member.status) : null))),
    plan: common(members.map((member) => (isNode(member) ? member.plan : null))),
    nodes: members.length,
    ...sumOfPrices(each),
    foreign: foreignSums(members.map(billed.foreignOf)),
    committed: until.filter((end) => end !== null).length,
    committedUntil: commonUntil === null ? null : DateTime.makeUnsafe(commonUntil),
    offAndBilled: nodes.filter(({ status }) => status === "power-off").length,
    withoutPrice: each.filter(({ pricePerHourInr }) => pricePerHourInr === null).length,
    unreadable: members.length - nodes.length
  }
}

/** It is undocumented whether a node is billed while it terminates. Such a node has no row, and only `ending` counts it. */
const isEnding = ({ status }: Node): boolean => status === "terminate"

/** The groups of the `at`th member. A member with several tags is in several groups. */
const groupsOf = (member: Member, at: number, by: Grouping, fleets: Pricing["fleets"]): ReadonlyArray<string> => {
  if (by === "node") return [String(at)]
  if (!isNode(member)) return [notKnown]
  const known = fleets?.get(member.id)
  switch (by) {
    case "plan":
      return [member.plan ?? notKnown]
    case "status":
      return [label(member.status)]
    case "fleet":
      return [known?.fleet ?? "in no fleet"]
    case "tag":
      return known === undefined || known.tags.length === 0 ? ["without a known tag"] : known.tags
  }
}

/** The account's nodes, as far as the list can be read. */
export interface Counted {
  readonly nodes: ReadonlyArray<Node>
  readonly unreadable: ReadonlyArray<LeftOutRecord>
}

/**
 * One row per group, in order of appearance, and one for the total. A node with several tags is in several rows and
 * once in the total. An unreadable record counts as a node with an unknown price, because the sums must not look exact.
 */
export const costs = (
  { nodes, unreadable }: Counted,
  pricing: Pricing,
  by: Grouping
): { readonly rows: ReadonlyArray<Cost>; readonly total: Cost; readonly ending: number } => {
  const ending = nodes.filter(isEnding)
  const members: ReadonlyArray<Member> = [...nodes.filter((node) => !isEnding(node)), ...unreadable]
  const billed = billedBy(pricing, unreadable)
  const grouped = members.flatMap((member, at) =>
    groupsOf(member, at, by, pricing.fleets).map((group) => [group, member] as const)
  )
  return {
    rows: Array.from(
      Map.groupBy(grouped, ([group]) => group),
      ([group, pairs]) => {
        const members = pairs.map(([, member]) => member)
        const [only] = members
        return by === "node" && only !== undefined
          ? rowOf(only.name ?? notKnown, only.id, members, billed)
          : rowOf(group, null, members, billed)
      }
    ),
    total: rowOf("total", null, members, billed),
    ending: ending.length
  }
}
