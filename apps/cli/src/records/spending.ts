/**
 * What accounts spent while the daemon watched them, one row per account.
 */
import { Schema } from "effect"
import { moment, nothing, rupees } from "../output/format.ts"
import { inr, recordOf } from "../output/RecordDescriptor.ts"

const maxInr = Schema.NullOr(Schema.Number).annotate({
  description: "In rupees: the upper bound; null if a price was not known for a while."
})

export const spendFields = {
  amountInr: Schema.Number.annotate({ description: "In rupees: the middle of the bounds, including assumed prices." }),
  minInr: Schema.Number.annotate({ description: "In rupees: the lower bound." }),
  maxInr,
  errorInr: Schema.NullOr(Schema.Number).annotate({
    description: "How far `amountInr` may be off, either way; null if that is not known."
  }),
  assumedInr: Schema.Number.annotate({ description: "The part at prices that were read only later." }),
  unpricedNodeHours: Schema.Number.annotate({ description: "Hours of nodes whose price was not known then." }),
  unobservedMillis: Schema.Number.annotate({
    description: "How long the daemon saw nothing: nodes that existed only in that time are not included."
  })
}

const inrOrNull = (description: string) => Schema.NullOr(Schema.Number).annotate({ description })

export const Spending = Schema.Struct({
  account: Schema.String.annotate({ description: "Its name in the daemon's config." }),
  watchUrl: Schema.String.annotate({ description: "The address of the daemon." }),
  month: Schema.NullOr(Schema.String).annotate({
    description: "`YYYY-MM`, a calendar month in India; null for another period."
  }),
  from: Schema.DateTimeUtc,
  to: Schema.DateTimeUtc,
  watchedSince: Schema.DateTimeUtc.annotate({ description: "When the daemon first knew the account's nodes." }),
  ...spendFields,
  forecastInr: inrOrNull(
    "In rupees: what the present month will cost if nothing changes until its end; null for another period."
  ),
  forecastMinInr: inrOrNull("In rupees: the lower bound of the forecast."),
  forecastMaxInr: inrOrNull("In rupees: the upper bound of the forecast; null if it is not known."),
  budgetInr: inrOrNull("In rupees: the month's budget in the daemon's config; null without one."),
  days: Schema.Array(
    Schema.Struct({
      day: Schema.String.annotate({ description: "`YYYY-MM-DD`, in India." }),
      isPart: Schema.Boolean.annotate({ description: "Whether only a part of the day is covered." }),
      ...spendFields
    })
  )
})
export interface Spending extends Schema.Schema.Type<typeof Spending> {}

/** An amount in a cell, for example `12.50`, `12.50 ± 0.20`, or `≥ 12.50` without an upper bound. */
const spent = ({ amountInr, errorInr, minInr }: Spending): string =>
  errorInr === null ? `≥ ${rupees(minInr)}` : `${rupees(amountInr)}${errorInr > 0 ? ` ± ${rupees(errorInr)}` : ""}`

const expected = ({ forecastInr, forecastMaxInr, forecastMinInr }: Spending): string =>
  forecastInr === null ? nothing : forecastMaxInr === null ? `≥ ${rupees(forecastMinInr)}` : rupees(forecastInr)

export const spendingRecord = recordOf(Spending, { none: "no accounts that are watched" }, [
  { key: "account", title: "ACCOUNT", value: ({ account }) => account, shrinkTo: 12 },
  { key: "from", title: "FROM (UTC)", value: ({ from }) => moment(from), dropOrder: 1 },
  { key: "to", title: "TO (UTC)", value: ({ to }) => moment(to), dropOrder: 2 },
  { key: "amountInr", title: "SPENT (₹)", value: spent, align: "right" },
  { key: "forecastInr", title: "FORECAST (₹)", value: expected, align: "right", dropOrder: 3 },
  inr("budgetInr", "BUDGET (₹)", { dropOrder: 4 })
])
