/**
 * The spending of accounts, as the HTTP interface reports it. It is computed from the daily rows in the store, as of a given
 * instant.
 */
import { DateTime, Effect } from "effect"
import { dayOf, type Month, monthNamed, monthOf } from "../spend/calendar.ts"
import { forecast, perHour, type Spend, spendBetween, spendByDay } from "../spend/figures.ts"
import { readDay, readHeader } from "../spend/LedgerJson.ts"
import type { Store } from "../store/Store.ts"
import { type CostQuery, Refused } from "./Daemon.ts"
import type { AccountCost } from "./records.ts"

interface Time {
  /** Null if the period is not a calendar month. */
  readonly month: Month | null
  readonly fromMillis: number
  readonly toMillis: number
}

const invalid = (message: string) => Effect.fail(new Refused({ kind: "invalid", message }))

/** Maximum length of a period in days. */
const maxDays = 800

const timeOf = ({ month: name, since }: CostQuery, nowMillis: number): Effect.Effect<Time, Refused> => {
  if (since !== undefined) {
    if (name !== undefined) return invalid("Ask for a month or since an instant, not for both.")
    const fromMillis = DateTime.toEpochMillis(since)
    if (fromMillis > nowMillis) return invalid("since is in the future.")
    if (nowMillis - fromMillis > maxDays * 86_400_000) return invalid(`since is more than ${maxDays} days ago.`)
    return Effect.succeed({ month: null, fromMillis, toMillis: nowMillis })
  }
  const month = name === undefined ? monthOf(nowMillis) : monthNamed(name)
  if (month === undefined) return invalid("month has to be YYYY-MM, such as 2026-11.")
  if (month.fromMillis > nowMillis) return invalid("month is in the future.")
  return Effect.succeed({ month, fromMillis: month.fromMillis, toMillis: Math.min(month.toMillis, nowMillis) })
}

/** Marks the time before the first kept day as not observed. */
const withUnseen = <S extends Spend>(spend: S, unseenMillis: number): S =>
  unseenMillis <= 0 ? spend : { ...spend, unobservedMillis: spend.unobservedMillis + unseenMillis }

/** The costs of the accounts with the given names. */
export const costsOf = Effect.fnUntraced(function* (
  store: Pick<Store["Service"], "spends" | "spendDays">,
  names: ReadonlySet<string>,
  query: CostQuery,
  nowMillis: number
) {
  const { fromMillis, month, toMillis } = yield* timeOf(query, nowMillis)
  const spends = yield* Effect.orDie(store.spends(query.account))
  const rows = yield* Effect.orDie(store.spendDays(dayOf(fromMillis), query.account))
  const days = Map.groupBy(rows, ({ account }) => account)
  return spends
    .filter(({ account }) => names.has(account))
    .map(({ account, body, fingerprint }): AccountCost => {
      const { budget, currencies = [], sinceMillis } = readHeader(body)
      const own = new Map(days.get(account)?.map(({ body, day }) => [day, readDay(body)]))
      const isPresent = month !== null && month.toMillis > nowMillis
      const unseenMillis = Math.min(toMillis, monthOf(sinceMillis).fromMillis) - fromMillis
      return {
        account,
        fingerprint,
        month: month?.name ?? null,
        from: DateTime.makeUnsafe(fromMillis),
        to: DateTime.makeUnsafe(toMillis),
        watchedSince: DateTime.makeUnsafe(sinceMillis),
        spent: withUnseen(spendBetween(own, fromMillis, toMillis), unseenMillis),
        forecast: isPresent ? withUnseen(forecast(own, month), unseenMillis) : null,
        perHour: perHour(own),
        budget,
        currencies,
        days: spendByDay(own, fromMillis, toMillis)
      }
    })
})
