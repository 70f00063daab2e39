/**
 * The tables of `AllowanceSql.ts`, on PostgreSQL or SQLite. `berth state migrate` and `berth-watch migrate` make them. Otherwise the
 * first process that needs them makes them, if its role has the right to.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

const isServerOf = (sql: SqlClient.SqlClient) => sql.onDialectOrElse({ pg: () => true, orElse: () => false })

/** The tables in a schema, as parts of statements. SQLite has no schemas. */
export const allowanceTablesIn = (sql: SqlClient.SqlClient, schema: string) => {
  const isServer = isServerOf(sql)
  const table = (name: string) => sql(isServer ? `${schema}.${name}` : name)
  return {
    isServer,
    contents: table("shared_allowance"),
    memberships: table("allowance_member"),
    processes: table("allowance_process")
  }
}

/** Makes the schema and tables that are missing. If two processes do so at once, one may fail, but the tables exist afterwards. */
export const makeAllowanceTables = (schema: string): Effect.Effect<void, SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { contents, isServer, memberships, processes } = allowanceTablesIn(sql, schema)
    if (isServer) {
      // PostgreSQL lets only the owner create an index, even if it exists already, and the daemon may own the tables.
      const [made] = yield* sql<{
        found: string | null
      }>`SELECT to_regclass(${`${schema}.allowance_process`})::text AS found`
      if (made!.found !== null) return
      const found = yield* sql`SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`
      if (found.length === 0) yield* sql`CREATE SCHEMA IF NOT EXISTS ${sql(schema)}`
    }
    const create = sql.literal(isServer ? "CREATE UNLOGGED TABLE IF NOT EXISTS" : "CREATE TABLE IF NOT EXISTS")
    yield* sql`${create} ${contents} (account TEXT NOT NULL PRIMARY KEY,
      version INTEGER NOT NULL, written_at DOUBLE PRECISION NOT NULL, content TEXT NOT NULL)`
    yield* sql`${create} ${memberships} (account TEXT NOT NULL, member TEXT NOT NULL,
      process TEXT NOT NULL, joined_at DOUBLE PRECISION NOT NULL, PRIMARY KEY (account, member))`
    yield* sql`CREATE INDEX IF NOT EXISTS allowance_member_process ON ${memberships} (process)`
    yield* sql`${create} ${processes} (process TEXT NOT NULL PRIMARY KEY,
      beats INTEGER NOT NULL, seen_at DOUBLE PRECISION NOT NULL)`
  }).pipe((making) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(making)))
