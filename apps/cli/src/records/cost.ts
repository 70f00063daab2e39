/**
 * The cost of nodes: one row per node, plan, status, fleet or tag.
 */
import { ForeignPrice } from "@berthkit/core/domain/Image"
import { Price } from "@berthkit/core/domain/Price"
import { Schema } from "effect"
import { foreignAmount, moment, nothing, plain } from "../output/format.ts"
import { type Field, number, recordOf } from "../output/RecordDescriptor.ts"
import { pricePerHour, pricePerMonth } from "./price.ts"

const Cost = Schema.Struct({
  name: Schema.String.annotate({ description: "Name of the node, the plan, the status, the fleet or the tag." }),
  id: Schema.NullOr(Schema.Int).annotate({
    description: "Id of the node; null in a row of several nodes, or if it cannot be read."
  }),
  status: Schema.NullOr(Schema.String).annotate({ description: "Status of the nodes; null if they have several." }),
  plan: Schema.NullOr(Schema.String).annotate({ description: "Plan of the nodes; null if they have several." }),
  nodes: Schema.Int,
  ...Price.fields,
  foreign: Schema.Array(
    Schema.Struct({
      ...ForeignPrice.fields,
      nodes: Schema.Int
    })
  ).annotate({
    description:
      "The cost of the nodes with prices in another currency, for each currency. The amounts in rupees do not include it."
  }),
  committed: Schema.Int.annotate({
    description: "How many of them are in a committed period by berth's own record; the service reports none."
  }),
  committedUntil: Schema.NullOr(Schema.DateTimeUtc).annotate({
    description: "Its end; null if there is none, or several."
  }),
  offAndBilled: Schema.Int.annotate({ description: "How many of them are off and still billed." }),
  withoutPrice: Schema.Int.annotate({
    description: "How many of them have no known price per hour. The sum is then only in the `min…` fields."
  }),
  unreadable: Schema.Int.annotate({
    description: "How many of them are unreadable records, each of which may be a node. The sum does not include them."
  })
})
export interface Cost extends Schema.Schema.Type<typeof Cost> {}

/** Shows amounts in other currencies, with their own signs, next to those in rupees. */
const withForeign = (field: Field<Price>, period: "perHour" | "perMonth"): Field<Cost> => ({
  ...field,
  value: (row, nowMillis) => {
    const foreign = row.foreign.map((sum) => foreignAmount(sum.currency, sum[period]))
    const inRupees = field.value(row, nowMillis)
    return foreign.length === 0 ? inRupees : [...(inRupees === nothing ? [] : [inRupees]), ...foreign].join(" + ")
  }
})

export const costRecord = recordOf(Cost, { none: "no nodes" }, [
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12 },
  number("id", "ID", { dropOrder: 2 }),
  { key: "status", title: "STATUS", value: ({ status }) => plain(status), dropOrder: 4 },
  { key: "plan", title: "PLAN", value: ({ plan }) => plain(plan), dropOrder: 3 },
  number("nodes", "NODES", { dropOrder: 1 }),
  withForeign(pricePerHour, "perHour"),
  { ...withForeign(pricePerMonth, "perMonth"), dropOrder: 6 },
  {
    key: "committedUntil",
    title: "COMMITTED",
    value: ({ committed, committedUntil, nodes }) =>
      committedUntil === null ? (committed === 0 ? "" : `${committed} of ${nodes}`) : `until ${moment(committedUntil)}`,
    dropOrder: 5
  },
  {
    key: "offAndBilled",
    title: "OFF, BILLED",
    value: ({ offAndBilled }) => (offAndBilled === 0 ? "" : String(offAndBilled)),
    align: "right",
    style: () => "waiting",
    dropOrder: 5
  },
  number("withoutPrice", "NO PRICE", { cardOnly: true }),
  number("unreadable", "NOT READ", { cardOnly: true })
])
