/**
 * Accounts beside those of the config, which come and go while daemons run. Each change gives its row the next `revision`, so that a reader asks
 * for what is behind the last one that it has seen; the row of an account that was removed stays for that, without its credentials.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const watchedAccounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE watched_account (
    name TEXT NOT NULL PRIMARY KEY,
    base_url TEXT NOT NULL,
    credentials TEXT NOT NULL,
    options TEXT NOT NULL,
    state TEXT NOT NULL,
    revision BIGINT NOT NULL UNIQUE
  )`
})
