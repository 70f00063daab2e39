/**
 * An index of the events of each type, so that a reader of a type that is rare does not read the whole log.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const types = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX event_by_type ON event (type, account, seq)`
})
