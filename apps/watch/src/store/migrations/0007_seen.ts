/**
 * When the process that runs was last seen to write: it writes this also while nothing else happens.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const seen = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE process ADD COLUMN seen_at BIGINT`
})
