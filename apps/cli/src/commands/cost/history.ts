/**
 * `berth cost --since TIME` and `berth cost --month [YYYY-MM]`: show past spending, which only a running berth-watch daemon records.
 */
import { parseDurationMillis } from "@berthkit/terminal/duration"
import { parseInstantMillis } from "@berthkit/terminal/instant"
import { Clock, DateTime, Effect, Option, Schema, Struct } from "effect"
import { flag, text, type Values } from "../../commandLine/Parameter.ts"
import { UsageFault } from "../../failure/CliFailure.ts"
import { elapsed } from "../../output/format.ts"
import { printNote } from "../../output/Output.ts"
import { printAll } from "../../output/print.ts"
import { Spending, spendFields, spendingRecord } from "../../records/spending.ts"
import { askDaemon, ownAccounts, watchUrl, watchUrlOf } from "../../settings/watchDaemon.ts"

/** The value of `--month` without a month. */
const present = "now"

/** Parses a string as an instant. A day begins at midnight in India, as in the bill. */
const instantOf = (text: string): Option.Option<DateTime.Utc> =>
  Option.map(parseInstantMillis(text, "+05:30"), DateTime.makeUnsafe)

/** The longest time before now that `--since` accepts: a hundred years. */
const maxSpanMillis = 36_525 * 86_400_000

const spanOf = (text: string): Option.Option<number> =>
  Option.filter(parseDurationMillis(text), (millis) => millis <= maxSpanMillis)

const isTime = (text: string) => Option.isSome(spanOf(text)) || Option.isSome(instantOf(text))
const isMonth = (text: string) => text === present || /^\d{4}-(0[1-9]|1[0-2])$/.test(text)

export const historyFlags = {
  since: flag(
    "since",
    text(
      "TIME",
      isTime,
      "expected a duration, such as 7d, a day in India, such as 2026-11-01, or an instant that exists, with its offset, such as 2026-11-01T10:20:30Z"
    ),
    "Costs since this time, from berth-watch"
  ),
  month: flag(
    "month",
    { ...text("[YYYY-MM]", isMonth, "expected a month, such as 2026-11"), bare: present },
    "Costs of a month (default: this one), with a forecast, from berth-watch"
  ),
  watchUrl
}

type History = Values<typeof historyFlags>

const Spend = Schema.Struct(spendFields)

/** The fields that are printed. */
const AccountCost = Schema.Struct({
  currencies: Schema.optionalKey(Schema.Array(Schema.String)),
  ...Struct.pick(Spending.fields, ["account", "month", "from", "to", "watchedSince", "days"]),
  fingerprint: Schema.NullOr(Schema.String),
  spent: Spend,
  forecast: Schema.NullOr(Spend),
  budget: Schema.NullOr(Schema.Struct({ monthInr: Schema.Number }))
})

const decode = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.toCodecJson(Schema.Struct({ accounts: Schema.Array(AccountCost) })))
)

const toSpending = ({ budget, forecast, spent, ...account }: typeof AccountCost.Type, watchUrl: string): Spending => ({
  ...Struct.omit(account, ["fingerprint", "currencies"]),
  watchUrl,
  ...spent,
  forecastInr: forecast?.amountInr ?? null,
  forecastMinInr: forecast?.minInr ?? null,
  forecastMaxInr: forecast?.maxInr ?? null,
  budgetInr: budget?.monthInr ?? null
})

const queryOf = Effect.fnUntraced(function* ({ month, since }: History) {
  if (since !== undefined && month !== undefined) {
    return yield* new UsageFault({
      message: "--since cannot be combined with --month.",
      hint: "Leave one of them out."
    })
  }
  if (month !== undefined) return month === present ? [] : [["month", month] as const]
  const given = since ?? ""
  const span = spanOf(given)
  const now = yield* Clock.currentTimeMillis
  const instant = Option.isSome(span) ? DateTime.make(now - span.value) : instantOf(given)
  return [["since", DateTime.formatIso(Option.getOrThrow(instant))] as const]
})

const nodeHours = (hours: number) => `${hours < 0.05 ? "less than 0.1" : Number(hours.toFixed(1))} node-hours`

/** One sentence per account about the costs that its amounts leave out. */
const notesOf = (rows: ReadonlyArray<Spending>): ReadonlyArray<string> =>
  rows.flatMap(({ account, unobservedMillis, unpricedNodeHours }) => [
    ...(unpricedNodeHours > 0
      ? [`${account}: rupee prices for ${nodeHours(unpricedNodeHours)} were not known, so there is no upper bound.`]
      : []),
    ...(unobservedMillis > 0
      ? [
          `${account}: not watched for ${elapsed(unobservedMillis)}; nodes that existed only in that time are not included.`
        ]
      : [])
  ])

/** Whether the flags ask for past spending instead of current cost. */
export const isHistory = ({ month, since }: History): boolean => month !== undefined || since !== undefined

export const costHistory = Effect.fn("costHistory")(function* (values: History) {
  const query = yield* queryOf(values)
  const url = yield* watchUrlOf(values.watchUrl)
  const { accounts } = yield* askDaemon(url, "/api/cost", query, decode)
  const own = yield* ownAccounts(url, accounts)
  const rows = own.map((account) => toSpending(account, url))
  yield* printAll(spendingRecord, rows)
  for (const note of notesOf(rows)) yield* printNote(note)
  for (const { account, budget, currencies = [] } of own) {
    const leftOut = budget === null ? "" : ", and does not count toward the budget, which is in rupees"
    if (currencies.length > 0)
      yield* printNote(
        `${account}: the cost of nodes with prices in ${currencies.join(", ")} is not included${leftOut}.`
      )
  }
  yield* printNote("Calculated from hourly prices; commitments, taxes and minimum charges are not included.")
})
