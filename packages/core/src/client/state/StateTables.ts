/**
 * The tables of the state that several machines share, on PostgreSQL 14 or newer. They may stand in the schema of the daemon: no name is in
 * both. A program does not make them by itself, because its role need not have the right to: `berth state migrate` does.
 *
 * | table | a row is |
 * |---|---|
 * | `state_account` | an account, the one that it went on in (`root`, itself otherwise), and which nodes are known to it |
 * | `state_process` | a process that runs, until its lease ends unless it renews it |
 * | `state_lock` | a lock that is held, with its owner and its fence, which no other lock ever had |
 * | `state_record` | a record of `RecordStore.ts` |
 * | `state_intent` | the intent of a create, with its node once that is known |
 * | `state_stranger` | a node of which nobody here knows what made it |
 *
 * All instants are milliseconds on the database's clock. `tx` is the transaction that wrote a row: rows that a backup brought back were written
 * by another one.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

/** The tables in a schema, as parts of statements. */
export const tablesIn = (sql: SqlClient.SqlClient, schema: string) => {
  const table = (name: string) => sql(`${schema}.state_${name}`)
  return {
    accounts: table("account"),
    processes: table("process"),
    locks: table("lock"),
    records: table("record"),
    intents: table("intent"),
    strangers: table("stranger"),
    fences: table("fence")
  }
}

/** Makes the schema and the tables that are missing. Of two processes that do so at once one may fail, and finds them made. */
export const makeTables = (schema: string): Effect.Effect<void, SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { accounts, fences, intents, locks, processes, records, strangers } = tablesIn(sql, schema)
    const found = yield* sql`SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`
    if (found.length === 0) yield* sql`CREATE SCHEMA IF NOT EXISTS ${sql(schema)}`
    yield* sql`CREATE TABLE IF NOT EXISTS ${accounts} (id TEXT NOT NULL PRIMARY KEY, root TEXT NOT NULL,
      newest DOUBLE PRECISION NOT NULL, seen DOUBLE PRECISION NOT NULL, restored_at DOUBLE PRECISION, tx TEXT NOT NULL)`
    yield* sql`CREATE TABLE IF NOT EXISTS ${processes} (id TEXT NOT NULL PRIMARY KEY, self TEXT NOT NULL,
      lease_until DOUBLE PRECISION NOT NULL)`
    yield* sql`CREATE SEQUENCE IF NOT EXISTS ${fences}`
    yield* sql`CREATE TABLE IF NOT EXISTS ${locks} (account TEXT NOT NULL, name TEXT NOT NULL, owner TEXT NOT NULL,
      fence DOUBLE PRECISION NOT NULL, PRIMARY KEY (account, name))`
    yield* sql`CREATE TABLE IF NOT EXISTS ${records} (account TEXT NOT NULL, kind TEXT NOT NULL, key TEXT COLLATE "C" NOT NULL,
      value TEXT NOT NULL, PRIMARY KEY (account, kind, key))`
    yield* sql`CREATE TABLE IF NOT EXISTS ${intents} (account TEXT NOT NULL, key TEXT COLLATE "C" NOT NULL, node DOUBLE PRECISION,
      process TEXT NOT NULL, changed_at DOUBLE PRECISION NOT NULL, value TEXT NOT NULL, PRIMARY KEY (account, key))`
    yield* sql`CREATE INDEX IF NOT EXISTS state_intent_node ON ${intents} (account, node)`
    yield* sql`CREATE TABLE IF NOT EXISTS ${strangers} (account TEXT NOT NULL, node DOUBLE PRECISION NOT NULL, name TEXT NOT NULL,
      spelling TEXT NOT NULL, PRIMARY KEY (account, node))`
    yield* sql`CREATE INDEX IF NOT EXISTS state_stranger_spelling ON ${strangers} (account, spelling)`
  }).pipe((making) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(making)))

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** What a role needs that uses the state and makes no tables, as statements. */
export const rightsIn = (schema: string, role = "ROLE"): ReadonlyArray<string> => [
  `GRANT USAGE ON SCHEMA ${quoted(schema)} TO ${role};`,
  `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${quoted(schema)} TO ${role};`,
  `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${quoted(schema)} TO ${role};`
]
