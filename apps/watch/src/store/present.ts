/**
 * Reads all data of accounts except events: nodes page by page, counts of nodes, catalogues, allowances and spending.
 * `accounts.ts` writes this data, together with the events.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { planOf } from "./migrations.ts"

/** How many nodes of an account share a status and a plan. */
export interface NodeCount {
  readonly account: string
  readonly status: string
  readonly plan: string | null
  readonly count: number
}

/** A value of an account, as JSON. */
interface Kept {
  readonly account: string
  readonly body: string
}

/** An existing node: the body of its row as JSON. */
export interface PresentNode extends Kept {
  readonly id: number
}

/** A day on which the rates of an account changed, as JSON. */
interface SpendDay extends Kept {
  readonly day: number
}

/** How many days of spending are kept, counted back from the newest. */
export const keptSpendDays = 800

export const makePresent = (sql: SqlClient.SqlClient) => {
  /** The nodes of an account after the id `after`, sorted by id. Returns at most `max`. */
  const presentNodes = Effect.fn("Store.presentNodes")(
    (account: string, after: number, max: number) => sql<PresentNode>`SELECT account, id, body FROM node
      WHERE account = ${account} AND id > ${after} AND gone_at IS NULL ORDER BY id LIMIT ${max}`
  )

  const plan = planOf(sql)
  const nodeCounts = sql<NodeCount>`
    SELECT account, status, ${plan} AS plan, count(*) AS count FROM node WHERE gone_at IS NULL
    GROUP BY account, status, ${plan} ORDER BY account, status, plan`

  /** The catalogues of all accounts, sorted by the account's name. */
  const catalogues = sql<Kept>`SELECT account, body FROM catalogue ORDER BY account`

  const valueOf = (table: "catalogue" | "allowance") =>
    Effect.fn(`Store.${table}Of`)((account: string) =>
      Effect.map(
        sql<Kept>`SELECT account, body FROM ${sql(table)} WHERE account = ${account}`,
        ([row]): string | null => row?.body ?? null
      )
    )

  /**
   * The spending of one account or of all, sorted by the account's name, with the fingerprint of the key that last read the
   * account.
   */
  const spends = Effect.fn("Store.spends")((account: string | undefined) => {
    const own = account === undefined ? sql`` : sql`WHERE spend.account = ${account}`
    return sql<Kept & { readonly fingerprint: string | null }>`
      SELECT spend.account, spend.body, account.fingerprint FROM spend LEFT JOIN account ON account.name = spend.account
      ${own} ORDER BY spend.account`
  })

  /**
   * The days of spending of one account or of all, from `firstDay` on, ascending. For each account the last day before is
   * included, if there is no row for `firstDay`.
   */
  const spendDays = Effect.fn("Store.spendDays")((firstDay: number, account: string | undefined) => {
    const own = account === undefined ? sql`` : sql`AND spend.account = ${account}`
    return sql<SpendDay>`
      SELECT d.account, d.day, d.body FROM spend JOIN spend_day d ON d.account = spend.account
      WHERE d.day >= coalesce(
        (SELECT max(p.day) FROM spend_day p WHERE p.account = spend.account AND p.day <= ${firstDay}), 0) ${own}
      ORDER BY d.account, d.day`
  })

  return {
    presentNodes,
    nodeCounts,
    catalogues,
    /** The catalogue of one account; null before its first read. */
    catalogueOf: valueOf("catalogue"),
    /** The reported allowance of an account; null if none was reported. */
    allowanceOf: valueOf("allowance"),
    spends,
    spendDays
  }
}
