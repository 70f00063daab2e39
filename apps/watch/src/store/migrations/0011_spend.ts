/**
 * What each account spends: what is known of it as one JSON value, and what each day came to in which that changed, numbered from the
 * epoch's in India. A day without a row is like the end of the one before.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const spend = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE spend (account TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL)`
  yield* sql`CREATE TABLE spend_day (
    account TEXT NOT NULL,
    day BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (account, day)
  )`
})
