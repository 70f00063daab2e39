/**
 * Reading what is kept of an account beside its nodes: its catalogue, and what was reported of its allowance. `accounts.ts` writes
 * both together with their events.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** A value of an account, as JSON. */
interface Kept {
  readonly account: string
  readonly body: string
}

export const makeCatalogue = (sql: SqlClient.SqlClient) => {
  const valueOf = (table: "catalogue" | "allowance") =>
    Effect.fn(`Store.${table}Of`)((account: string) =>
      Effect.map(
        sql<Kept>`SELECT account, body FROM ${sql(table)} WHERE account = ${account}`,
        ([row]): string | null => row?.body ?? null
      )
    )
  return {
    /** The catalogues of all accounts, by name. */
    catalogues: sql<Kept>`SELECT account, body FROM catalogue ORDER BY account`,
    /** The catalogue of one account; null before its first read. */
    catalogueOf: valueOf("catalogue"),
    /** What was reported of an account's allowance; null where nothing was. */
    allowanceOf: valueOf("allowance")
  }
}
