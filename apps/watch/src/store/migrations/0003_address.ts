/**
 * Where the process that runs is reached over HTTP, so that commands find it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const address = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE process ADD COLUMN http TEXT`
})
