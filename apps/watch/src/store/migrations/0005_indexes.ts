/**
 * Indexes that keep what is done again and again from reading every node or event: the numbers of nodes, which the page and each
 * scrape ask for, and the removal of what is too old.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const indexes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const plan = sql.onDialectOrElse({
    pg: () => sql`(body::json -> 'node' ->> 'plan')`,
    orElse: () => sql`json_extract(body, '$.node.plan')`
  })
  yield* sql`CREATE INDEX node_by_status ON node (account, status, ${plan}) WHERE gone_at IS NULL`
  yield* sql`CREATE INDEX node_by_end ON node (gone_at) WHERE gone_at IS NOT NULL`
  yield* sql`CREATE INDEX dead_letter_by_end ON dead_letter (died_at)`
})
