/**
 * `berth cost --since TIME` and `berth cost --month [YYYY-MM]`: what was spent, which only a daemon that watched knows.
 */
import { parseDurationMillis } from "@berthkit/terminal/duration"
import { Clock, DateTime, Effect, Option, Schema, Struct } from "effect"
import { flag, text, type Values } from "../../commandLine/Parameter.ts"
import { UsageFault } from "../../failure/CliFailure.ts"
import { elapsed } from "../../output/format.ts"
import { printNote } from "../../output/Output.ts"
import { printAll } from "../../output/print.ts"
import { Spending, spendFields, spendingRecord } from "../../records/spending.ts"
import { askDaemon, watchUrl } from "../../settings/watchDaemon.ts"

/** The month that is meant where `--month` has no value. */
const present = "now"

/** A day alone begins where the bill's days do. */
const instantOf = (text: string): Option.Option<DateTime.Utc> =>
  Option.map(DateTime.make(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00+05:30` : text), DateTime.toUtc)

const isTime = (text: string) => Option.isSome(parseDurationMillis(text)) || Option.isSome(instantOf(text))
const isMonth = (text: string) => text === present || /^\d{4}-(0[1-9]|1[0-2])$/.test(text)

export const historyFlags = {
  since: flag(
    "since",
    text("TIME", isTime, "expected a duration, such as 7d, a day, such as 2026-11-01, or an instant"),
    "What was spent since then, as berth-watch saw it"
  ),
  month: flag(
    "month",
    { ...text("[YYYY-MM]", isMonth, "expected a month, such as 2026-11"), bare: present },
    "What was spent in a month (default: this one), with a forecast, as berth-watch saw it"
  ),
  watchUrl
}

type History = Values<typeof historyFlags>

const Spend = Schema.Struct(spendFields)

/** As far as it is printed. */
const AccountCost = Schema.Struct({
  ...Struct.pick(Spending.fields, ["account", "month", "from", "to", "watchedSince", "days"]),
  spent: Spend,
  forecast: Schema.NullOr(Spend),
  budget: Schema.NullOr(Schema.Struct({ monthInr: Schema.Number }))
})

const decode = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.toCodecJson(Schema.Struct({ accounts: Schema.Array(AccountCost) })))
)

const toSpending = ({ budget, forecast, spent, ...account }: typeof AccountCost.Type): Spending => ({
  ...account,
  ...spent,
  forecastInr: forecast?.amountInr ?? null,
  forecastMinInr: forecast?.minInr ?? null,
  forecastMaxInr: forecast?.maxInr ?? null,
  budgetInr: budget?.monthInr ?? null
})

const queryOf = Effect.fnUntraced(function* ({ month, since }: History) {
  if (since !== undefined && month !== undefined) {
    return yield* new UsageFault({ message: "--since does not go with --month.", hint: "Leave one of them out." })
  }
  if (month !== undefined) return month === present ? [] : [["month", month] as const]
  const given = since ?? ""
  const span = parseDurationMillis(given)
  const now = yield* Clock.currentTimeMillis
  const instant = Option.isSome(span) ? DateTime.make(now - span.value) : instantOf(given)
  return [["since", DateTime.formatIso(Option.getOrThrow(instant))] as const]
})

const nodeHours = (hours: number) => `${Number(hours.toFixed(1))} node-hours`

/** What is not in the amounts, one sentence for each account. */
const notesOf = (rows: ReadonlyArray<Spending>): ReadonlyArray<string> =>
  rows.flatMap(({ account, unobservedMillis, unpricedNodeHours }) => [
    ...(unpricedNodeHours > 0
      ? [`${account}: prices of ${nodeHours(unpricedNodeHours)} were not known, so there is no upper bound.`]
      : []),
    ...(unobservedMillis > 0
      ? [`${account}: not watched for ${elapsed(unobservedMillis)}; nodes that came and went then are not in it.`]
      : [])
  ])

/** Whether the flags ask for what was, and not for what is. */
export const isHistory = ({ month, since }: History): boolean => month !== undefined || since !== undefined

export const costHistory = Effect.fn("costHistory")(function* (values: History) {
  const query = yield* queryOf(values)
  const { accounts } = yield* askDaemon(values.watchUrl, "/api/cost", query, decode)
  const rows = accounts.map(toSpending)
  yield* printAll(spendingRecord, rows)
  for (const note of notesOf(rows)) yield* printNote(note)
  yield* printNote("By hourly prices: commitments, taxes and minimum charges are not in it.")
})
