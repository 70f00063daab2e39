/** Facts about money: the types and data of those events, as `diff/Fact.ts` has them for nodes. */
import { Node } from "@berthkit/core/domain/Node"
import { Schema } from "effect"
import type { Known } from "../diff/Fact.ts"

const month = Schema.String.annotate({ description: "`YYYY-MM`, a calendar month in India." })
const inr = (description: string) => Schema.Number.annotate({ description: `In rupees: ${description}` })

const bounds = {
  minInr: inr("the lower bound."),
  maxInr: Schema.NullOr(Schema.Number).annotate({
    description: "In rupees: the upper bound; null if a price is not known."
  })
}

const budgetInr = inr("the budget of the month.")

/** The account will probably cost more this month than its budget. */
const ForecastExceeded = Schema.Struct({
  type: Schema.Literal("berth.cost.forecast_exceeded"),
  data: Schema.Struct({
    month,
    budgetInr,
    forecastInr: inr("what the month comes to if nothing changes until its end."),
    ...bounds,
    monthToDateInr: inr("what was spent of it.")
  })
})

/** The account has spent a configured part of its budget. */
const BudgetCrossed = Schema.Struct({
  type: Schema.Literal("berth.cost.budget_crossed"),
  data: Schema.Struct({
    month,
    budgetInr,
    thresholdPercent: Schema.Number.annotate({
      description: "The share of the budget that was reached, one of `warn`."
    }),
    monthToDateInr: inr("what was spent."),
    ...bounds
  })
})

/** A node costs money although nobody seems to need it. */
const CostIdle = Schema.Struct({
  subject: Schema.String.annotate({ description: "`nodes/{id}`." }),
  type: Schema.Literal("berth.cost.idle"),
  data: Schema.Struct({
    reason: Schema.Literals(["off", "lease"]).annotate({
      description: "`off`: it is off and still billed. `lease`: it has outlived its lease."
    }),
    since: Schema.DateTimeUtc.annotate({ description: "Since when it has been off, or its lease has been over." }),
    pricePerHourInr: Schema.NullOr(Schema.Number).annotate({ description: "In rupees; null if that is not known." }),
    after: Node
  })
})

/** The lease of a node has expired, but the node still exists. */
const LeaseExpired = Schema.Struct({
  subject: Schema.String.annotate({ description: "`nodes/{id}`." }),
  type: Schema.Literal("berth.node.lease_expired"),
  data: Schema.Struct({ expiredAt: Schema.DateTimeUtc, after: Node })
})

export const costFacts = [ForecastExceeded, BudgetCrossed, CostIdle, LeaseExpired] as const

/** The version identifies the alert: the month, budget and threshold, or the reason and since when it holds. */
export type CostFact = Known<string> & (typeof costFacts)[number]["Type"]

const types: ReadonlySet<string> = new Set(costFacts.map(({ fields }) => fields.type.literal))

export const isCostFact = <F extends { readonly type: string }>(fact: F | CostFact): fact is CostFact =>
  types.has(fact.type)
