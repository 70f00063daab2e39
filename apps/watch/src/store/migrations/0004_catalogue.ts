/**
 * The images and plans of each account, and what was reported of its allowance: one value each, as JSON.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const catalogue = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE catalogue (account TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL)`
  yield* sql`CREATE TABLE allowance (account TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL)`
})
