/**
 * The tables of the state that several machines share, on PostgreSQL 14 or newer. They may be in the daemon's schema, because no table name
 * occurs twice. Only `berth state migrate` creates them, so the database role of other programs does not need the right to create tables.
 *
 * | table | a row is |
 * |---|---|
 * | `state_account` | an account; the account that it was merged into (`root`, otherwise its own id); up to which node the list was read |
 * | `state_process` | a running process, with the end of its lease |
 * | `state_lock` | a held lock with its owner and its fence, a number that is used only once |
 * | `state_record` | a record of `RecordStore.ts` |
 * | `state_intent` | the intent of a create, with its node once that is known |
 * | `state_stranger` | a listed node that no intent explains |
 *
 * All instants are milliseconds on the database's clock. `tx` is the transaction that wrote a row. In a restored row it differs from the
 * actual transaction (`xmin`).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { makeAllowanceTables } from "../allowance/AllowanceTables.ts"

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

/**
 * Makes the schema and tables that are missing, with those of the allowance. If two processes do so at once, one may fail, but the tables
 * exist afterwards.
 */
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
    yield* makeAllowanceTables(schema)
  }).pipe((making) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(making)))

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** The table of the records in a schema, for a statement that a person runs. */
export const recordsIn = (schema: string) => `${quoted(schema)}.state_record`

/** The statements that grant a role the rights to use the state, without the right to make tables. */
export const rightsIn = (schema: string, role = "ROLE"): ReadonlyArray<string> => [
  `GRANT USAGE ON SCHEMA ${quoted(schema)} TO ${role};`,
  `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${quoted(schema)} TO ${role};`,
  `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${quoted(schema)} TO ${role};`
]
