/**
 * Reading what accounts spend. `accounts.ts` writes it together with the events that it follows from.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** A day in which the rates of an account changed, as JSON. */
export interface SpendDay {
  readonly account: string
  readonly day: number
  readonly body: string
}

/** Days that are older than this before the newest are removed. */
export const keptSpendDays = 800

export const makeSpend = (sql: SqlClient.SqlClient) => {
  /** What is known of the spending of an account, or of all, by name. */
  const spends = Effect.fn("Store.spends")(function* (account: string | undefined) {
    const own = account === undefined ? sql`` : sql`WHERE account = ${account}`
    return yield* sql<{ account: string; body: string }>`SELECT account, body FROM spend ${own} ORDER BY account`
  })

  /** The days of an account, or of all, from one on, and of each the last before it; ascending. */
  const spendDays = Effect.fn("Store.spendDays")(function* (firstDay: number, account: string | undefined) {
    const own = account === undefined ? sql`` : sql`AND spend.account = ${account}`
    return yield* sql<SpendDay>`
      SELECT d.account, d.day, d.body FROM spend JOIN spend_day d ON d.account = spend.account
      WHERE d.day >= coalesce(
        (SELECT max(p.day) FROM spend_day p WHERE p.account = spend.account AND p.day <= ${firstDay}), 0) ${own}
      ORDER BY d.account, d.day`
  })

  return { spends, spendDays }
}
