/**
 * Who owns each account, since when and who did before, and how often it sweeps; which accounts and sinks each process has in its config;
 * and how often a person changed something about a sink: a process notices by it what was done in another one.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const fleet = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE account ADD COLUMN owner TEXT`
  yield* sql`ALTER TABLE account ADD COLUMN owned_since BIGINT`
  yield* sql`ALTER TABLE account ADD COLUMN former_owner TEXT`
  yield* sql`ALTER TABLE account ADD COLUMN sweep_interval BIGINT`
  yield* sql`CREATE TABLE member (process TEXT NOT NULL PRIMARY KEY, parts TEXT NOT NULL, joined_at BIGINT NOT NULL)`
  yield* sql`ALTER TABLE sink ADD COLUMN orders BIGINT NOT NULL DEFAULT 0`
})
