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

export const makeCatalogue = (sql: SqlClient.SqlClient) => ({
  /** The catalogues of all accounts, by name. */
  catalogues: sql<Kept>`SELECT account, body FROM catalogue ORDER BY account`,
  /** The catalogue of one account; null before its first read. */
  catalogueOf: Effect.fn("Store.catalogueOf")((account: string) =>
    Effect.map(
      sql<Kept>`SELECT account, body FROM catalogue WHERE account = ${account}`,
      ([row]): string | null => row?.body ?? null
    )
  ),
  /** What was reported of an account's allowance; null where nothing was. */
  allowanceOf: Effect.fn("Store.allowanceOf")((account: string) =>
    Effect.map(
      sql<Kept>`SELECT account, body FROM allowance WHERE account = ${account}`,
      ([row]): string | null => row?.body ?? null
    )
  )
})
