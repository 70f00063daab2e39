/**
 * The tables of the store, step by step. A step that was released never changes. A store is brought to the present schema by one numbered step
 * after the other, all in one transaction.
 */
import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { fromSqlError, StoreFailed } from "./StoreFailed.ts"

/** The plan of a node, in the body of its row: an index is used for this expression alone. */
export const planOf = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () => sql`(body::json -> 'node' ->> 'plan')`,
    orElse: () => sql`json_extract(body, '$.node.plan')`
  })

/** The statements of each step, in order. */
const steps: Readonly<Record<string, (sql: SqlClient.SqlClient) => ReadonlyArray<Effect.Effect<unknown, SqlError>>>> = {
  /**
   * What is known of accounts and their nodes, and the events. Integers are 64 bits, instants are milliseconds since the epoch,
   * JSON is text: the same on SQLite and PostgreSQL.
   */
  "0001_accounts": (sql) => [
    sql`CREATE TABLE account (
      name TEXT NOT NULL PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      epoch BIGINT NOT NULL,
      version BIGINT NOT NULL,
      seq BIGINT NOT NULL,
      fingerprint TEXT,
      swept_at BIGINT,
      standing TEXT
    )`,
    sql`CREATE TABLE node (
      account TEXT NOT NULL,
      id BIGINT NOT NULL,
      incarnation BIGINT NOT NULL,
      life BIGINT NOT NULL,
      status TEXT NOT NULL,
      changes BIGINT NOT NULL,
      gone_at BIGINT,
      body TEXT NOT NULL,
      PRIMARY KEY (account, id, incarnation)
    )`,
    sql`CREATE TABLE event (
      account TEXT NOT NULL,
      seq BIGINT NOT NULL,
      id TEXT NOT NULL UNIQUE,
      type TEXT NOT NULL,
      node BIGINT,
      happened_at BIGINT NOT NULL,
      body TEXT NOT NULL,
      PRIMARY KEY (account, seq)
    )`,
    sql`CREATE INDEX event_by_node ON event (account, node, seq)`,
    sql`CREATE INDEX event_by_time ON event (account, happened_at)`
  ],
  /**
   * How far each sink has read, what it still has to deliver, and what it gave up on. A delivery without a body of its own is of the
   * event with its sequence. `node` is 0 where an event is about the account as a whole. One row names the process that runs.
   */
  "0002_sinks": (sql) => [
    sql`CREATE TABLE sink (
      name TEXT NOT NULL PRIMARY KEY,
      disabled TEXT,
      message TEXT,
      changed_at BIGINT NOT NULL,
      failing_since BIGINT
    )`,
    sql`CREATE TABLE sink_cursor (
      sink TEXT NOT NULL,
      account TEXT NOT NULL,
      seq BIGINT NOT NULL,
      PRIMARY KEY (sink, account)
    )`,
    sql`CREATE TABLE delivery (
      sink TEXT NOT NULL,
      account TEXT NOT NULL,
      seq BIGINT NOT NULL,
      node BIGINT NOT NULL,
      id TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      due BIGINT NOT NULL,
      held TEXT,
      body TEXT,
      PRIMARY KEY (sink, account, seq, node)
    )`,
    sql`CREATE INDEX delivery_by_event ON delivery (account, seq)`,
    sql`CREATE INDEX delivery_by_node ON delivery (sink, account, node, seq)`,
    sql`CREATE TABLE dead_letter (
      sink TEXT NOT NULL,
      account TEXT NOT NULL,
      seq BIGINT NOT NULL,
      node BIGINT NOT NULL,
      id TEXT NOT NULL,
      attempts BIGINT NOT NULL,
      reason TEXT NOT NULL,
      died_at BIGINT NOT NULL,
      body TEXT NOT NULL,
      PRIMARY KEY (sink, id)
    )`,
    sql`CREATE TABLE process (slot BIGINT NOT NULL PRIMARY KEY, pid BIGINT NOT NULL, started_at BIGINT NOT NULL)`
  ],
  /** Where the process that runs is reached over HTTP, so that commands find it. */
  "0003_address": (sql) => [sql`ALTER TABLE process ADD COLUMN http TEXT`],
  /** The images and plans of each account, and what was reported of its allowance: one value each, as JSON. */
  "0004_catalogue": (sql) => [
    sql`CREATE TABLE catalogue (account TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL)`,
    sql`CREATE TABLE allowance (account TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL)`
  ],
  /**
   * Indexes that keep what is done again and again from reading every node or event: the numbers of nodes, which the page and each
   * scrape ask for, and the removal of what is too old.
   */
  "0005_indexes": (sql) => [
    sql`CREATE INDEX node_by_status ON node (account, status, ${planOf(sql)}) WHERE gone_at IS NULL`,
    sql`CREATE INDEX node_by_end ON node (gone_at) WHERE gone_at IS NOT NULL`,
    sql`CREATE INDEX dead_letter_by_end ON dead_letter (died_at)`
  ],
  /** An index of the events of each type, so that a reader of a type that is rare does not read the whole log. */
  "0006_types": (sql) => [sql`CREATE INDEX event_by_type ON event (type, account, seq)`],
  /** When the process that runs was last seen to write: it writes this also while nothing else happens. */
  "0007_seen": (sql) => [sql`ALTER TABLE process ADD COLUMN seen_at BIGINT`],
  /**
   * Silences, which events each of them covered in each sink, and which deliveries wait for the end of one. A delivery that waits has its
   * own body, so that it needs no event in the log. A sink has the instant at which a person asked it to deliver once more.
   */
  "0008_silences": (sql) => [
    sql`CREATE TABLE silence (
      id TEXT NOT NULL PRIMARY KEY,
      nodes TEXT NOT NULL,
      accounts TEXT NOT NULL,
      sinks TEXT NOT NULL,
      from_at BIGINT NOT NULL,
      until_at BIGINT NOT NULL,
      reason TEXT NOT NULL,
      at_end TEXT NOT NULL
    )`,
    sql`CREATE TABLE silenced_event (
      silence TEXT NOT NULL,
      account TEXT NOT NULL,
      seq BIGINT NOT NULL,
      node BIGINT NOT NULL,
      sink TEXT NOT NULL,
      id TEXT NOT NULL,
      outcome TEXT NOT NULL,
      PRIMARY KEY (silence, account, seq, node, sink)
    )`,
    sql`CREATE INDEX silenced_event_by_delivery ON silenced_event (sink, account, seq, node)`,
    sql`CREATE INDEX silenced_event_by_outcome ON silenced_event (outcome, silence, account, seq, node)`,
    sql`ALTER TABLE delivery ADD COLUMN silenced BIGINT`,
    sql`CREATE INDEX delivery_silenced ON delivery (sink, account, seq, node) WHERE silenced IS NOT NULL`,
    sql`ALTER TABLE sink ADD COLUMN replayed_at BIGINT`
  ],
  /**
   * Who owns each account, since when and who did before, and how often it sweeps; which accounts and sinks each process has in its config;
   * and how often a person changed something about a sink: a process notices by it what was done in another one.
   */
  "0009_fleet": (sql) => [
    sql`ALTER TABLE account ADD COLUMN owner TEXT`,
    sql`ALTER TABLE account ADD COLUMN owned_since BIGINT`,
    sql`ALTER TABLE account ADD COLUMN former_owner TEXT`,
    sql`ALTER TABLE account ADD COLUMN sweep_interval BIGINT`,
    sql`CREATE TABLE member (process TEXT NOT NULL PRIMARY KEY, parts TEXT NOT NULL, joined_at BIGINT NOT NULL)`,
    sql`ALTER TABLE sink ADD COLUMN orders BIGINT NOT NULL DEFAULT 0`
  ],
  /**
   * Accounts beside those of the config, which come and go while daemons run. Each change gives its row the next `revision`, so that a reader asks
   * for what is behind the last one that it has seen; the row of an account that was removed stays for that, without its credentials.
   */
  "0010_watched_accounts": (sql) => [
    sql`CREATE TABLE watched_account (
      name TEXT NOT NULL PRIMARY KEY,
      base_url TEXT NOT NULL,
      credentials TEXT NOT NULL,
      options TEXT NOT NULL,
      state TEXT NOT NULL,
      revision BIGINT NOT NULL UNIQUE
    )`
  ],
  /**
   * What each account spends: what is known of it as one JSON value, and what each day came to in which that changed, numbered from the
   * epoch's in India. A day without a row is like the end of the one before.
   */
  "0011_spend": (sql) => [
    sql`CREATE TABLE spend (account TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL)`,
    sql`CREATE TABLE spend_day (
      account TEXT NOT NULL,
      day BIGINT NOT NULL,
      body TEXT NOT NULL,
      PRIMARY KEY (account, day)
    )`
  ]
}

const numberOf = (name: string): number => Number.parseInt(name, 10)

/** The number of the last step. */
const newest = Math.max(...Object.keys(steps).map(numberOf))

/** The steps up to `last`, by their names. */
const migrationsTo = (last: number) =>
  Object.fromEntries(
    Object.entries(steps)
      .filter(([name]) => numberOf(name) <= last)
      .map(([name, statements]) => [
        name,
        Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.all(statements(sql), { discard: true }))
      ])
  )

const table = "schema_version"

/** Makes the steps up to `last`; tests make older stores with it. */
export const migrateTo = (last: number) => Migrator.make({})({ table, loader: Migrator.fromRecord(migrationsTo(last)) })

/** The version of the schema; 0 where there is none. */
const versionNow = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ id: number | null }>`SELECT max(migration_id) AS id FROM ${sql(table)}`
  return Number(row?.id ?? 0)
})

export const fromMigrationError = (error: Migrator.MigrationError | SqlError): StoreFailed =>
  error._tag === "SqlError"
    ? fromSqlError(error)
    : error.kind === "Failed" && isSqlError(error.cause)
      ? fromSqlError(error.cause)
      : new StoreFailed({ fault: "statement", detail: error.message })

/** Makes the tables of the present version; gives it, and the one before. Where they are there, a user may use them who may make none. */
export const migrate = Effect.gen(function* () {
  const before = yield* Effect.orElseSucceed(versionNow, () => 0)
  if (before < newest) yield* Effect.mapError(migrateTo(newest), fromMigrationError)
  yield* checkVersion
  return { before, now: newest }
})

/** Refuses a store that a newer version made, whose tables may mean something else. */
export const checkVersion = Effect.gen(function* () {
  const version = yield* Effect.mapError(versionNow, fromSqlError)
  if (version > newest) {
    const detail = `its schema is version ${version}, and this one knows ${newest}`
    return yield* new StoreFailed({ fault: "newer", detail })
  }
})
