/** The tables of the store, as one versioned schema. A store with another version is refused and stays unchanged. */
import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { fromSqlError, StoreFailed } from "./StoreFailed.ts"

/** The plan of a node in the body of its row. Queries must use exactly this expression, otherwise the index does not work. */
export const planOf = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () => sql`(body::json -> 'node' ->> 'plan')`,
    orElse: () => sql`json_extract(body, '$.node.plan')`
  })

/**
 * The statements that create the tables. They are the same for SQLite and PostgreSQL: integers have 64 bits, instants are
 * milliseconds since the epoch, and JSON is text.
 */
const statements = (sql: SqlClient.SqlClient): ReadonlyArray<Effect.Effect<unknown, SqlError>> => [
  // Accounts, their nodes and their events. `condition`: the account's troubles, according to its owner. In PostgreSQL the row also says
  // who owns the account, since when, and who owned it before.
  sql`CREATE TABLE account (
    name TEXT NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    epoch BIGINT NOT NULL,
    version BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    fingerprint TEXT,
    swept_at BIGINT,
    sweep_interval BIGINT,
    standing TEXT,
    condition TEXT,
    owner TEXT,
    owned_since BIGINT,
    former_owner TEXT
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
  // The first index is for counting nodes, which the page and each scrape ask for; the second is for removing old rows.
  sql`CREATE INDEX node_by_status ON node (account, status, ${planOf(sql)}) WHERE gone_at IS NULL`,
  sql`CREATE INDEX node_by_end ON node (gone_at) WHERE gone_at IS NOT NULL`,
  // `position`: the place of the event among the events of all accounts. `seq`: its place among the events of its account.
  sql`CREATE TABLE event (
    account TEXT NOT NULL,
    seq BIGINT NOT NULL,
    position BIGINT NOT NULL UNIQUE,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    node BIGINT,
    happened_at BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (account, seq)
  )`,
  sql`CREATE INDEX event_by_account ON event (account, position)`,
  sql`CREATE INDEX event_by_node ON event (node, position) WHERE node IS NOT NULL`,
  sql`CREATE INDEX event_by_time ON event (account, happened_at)`,
  sql`CREATE INDEX event_by_type ON event (type, position)`,
  sql`CREATE INDEX event_by_account_and_type ON event (account, type, position)`,
  // One row. `position`: the position of the last event. `removed`: the last position whose event was removed because of its age or size.
  sql`CREATE TABLE log (position BIGINT NOT NULL, removed BIGINT NOT NULL)`,
  sql`INSERT INTO log (position, removed) VALUES (0, 0)`,
  // `orders`: how often a person changed something about the sink. The number shows a process the changes that were
  // made in another process. `replayed_at`: when a person last made the sink deliver past events again.
  sql`CREATE TABLE sink (
    name TEXT NOT NULL PRIMARY KEY,
    disabled TEXT,
    message TEXT,
    changed_at BIGINT NOT NULL,
    failing_since BIGINT,
    replayed_at BIGINT,
    orders BIGINT NOT NULL DEFAULT 0
  )`,
  // `receiver`: the receiver's trouble, according to the owner of the account.
  sql`CREATE TABLE sink_cursor (
    sink TEXT NOT NULL,
    account TEXT NOT NULL,
    seq BIGINT NOT NULL,
    receiver TEXT,
    PRIMARY KEY (sink, account)
  )`,
  sql`CREATE INDEX sink_cursor_failing ON sink_cursor (sink, account) WHERE receiver IS NOT NULL`,
  // A delivery without a body delivers the event with its sequence. A delivery that waits for the end of a silence has a body.
  // `node` is 0 if the event is about the account as a whole.
  sql`CREATE TABLE delivery (
    sink TEXT NOT NULL,
    account TEXT NOT NULL,
    seq BIGINT NOT NULL,
    node BIGINT NOT NULL,
    id TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    due BIGINT NOT NULL,
    held TEXT,
    silenced BIGINT,
    body TEXT,
    PRIMARY KEY (sink, account, seq, node)
  )`,
  sql`CREATE INDEX delivery_by_event ON delivery (account, seq)`,
  sql`CREATE INDEX delivery_by_node ON delivery (sink, account, node, seq)`,
  sql`CREATE INDEX delivery_silenced ON delivery (sink, account, seq, node) WHERE silenced IS NOT NULL`,
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
  sql`CREATE INDEX dead_letter_by_end ON dead_letter (died_at)`,
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
  // The events that each silence covered in each sink.
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
  // Each account's catalogue, reported allowance and spending: one JSON value each. A day of spending without a row continues
  // the rates of the day before. Day 0 is the day of the epoch in India.
  sql`CREATE TABLE catalogue (account TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL)`,
  sql`CREATE TABLE allowance (account TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL)`,
  sql`CREATE TABLE spend (account TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL)`,
  sql`CREATE TABLE spend_day (
    account TEXT NOT NULL,
    day BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (account, day)
  )`,
  // The process that has a store in a file: its HTTP address, and when it last wrote.
  sql`CREATE TABLE process (
    slot BIGINT NOT NULL PRIMARY KEY,
    pid BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    http TEXT,
    seen_at BIGINT
  )`,
  // The accounts and sinks in the config of each process that uses the store in PostgreSQL.
  sql`CREATE TABLE member (process TEXT NOT NULL PRIMARY KEY, parts TEXT NOT NULL, joined_at BIGINT NOT NULL)`,
  // Accounts in addition to the accounts of the config. Each change gives its row the next `revision`: a reader asks
  // for the changes after the last revision that it has seen. For this, the row of a removed account stays, without its
  // credentials.
  sql`CREATE TABLE watched_account (
    name TEXT NOT NULL PRIMARY KEY,
    base_url TEXT NOT NULL,
    credentials TEXT NOT NULL,
    options TEXT NOT NULL,
    state TEXT NOT NULL,
    revision BIGINT NOT NULL UNIQUE
  )`
]

/** The version of the schema, and its name in the table of versions. */
const version = 1
const step = "tables"

const table = "schema_version"

const makeTables = Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.all(statements(sql), { discard: true }))

const loader = Migrator.fromRecord({ [`${String(version).padStart(4, "0")}_${step}`]: makeTables })

interface Step {
  readonly migration_id: number
  readonly name: string
}

/**
 * The versions that created the tables; null if the store has no tables. The table of versions is created first, and is empty
 * if the creation was interrupted.
 */
const madeBy = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql.onDialectOrElse({
    pg: () => sql<{ name: string | null }>`SELECT to_regclass(${table})::text AS name`,
    orElse: () => sql<{ name: string | null }>`SELECT name FROM sqlite_master WHERE type = 'table'`
  })
  const names = found.flatMap(({ name }) => (name === null ? [] : [name]))
  if (names.includes(table)) {
    const steps = yield* sql<Step>`SELECT migration_id, name FROM ${sql(table)} ORDER BY migration_id`
    return steps.length === 0 ? null : steps
  }
  // A schema in PostgreSQL may contain tables of other programs.
  if (names.length === 0) return null
  return yield* new StoreFailed({ fault: "otherSchema", detail: "it has tables that berth-watch did not make" })
})

/** Refuses a store whose tables are of another version or program. */
const checkSteps = (steps: ReadonlyArray<Step>): Effect.Effect<void, StoreFailed> => {
  const last = steps.at(-1)!
  if (steps.length === 1 && Number(last.migration_id) === version && last.name === step) return Effect.void
  return Effect.fail(
    new StoreFailed({
      fault: "otherSchema",
      detail: `its schema has version ${last.migration_id} (${last.name}), and this berth-watch has version ${version} (${step})`
    })
  )
}

const stepsNow = Effect.mapError(madeBy, fromSqlError)

export const fromMigrationError = (error: Migrator.MigrationError | SqlError): StoreFailed =>
  error._tag === "SqlError"
    ? fromSqlError(error)
    : error.kind === "Failed" && isSqlError(error.cause)
      ? fromSqlError(error.cause)
      : new StoreFailed({ fault: "statement", detail: error.message })

/**
 * Creates the tables if they are missing; returns their version, and whether they were created now. Needs no right to
 * create tables if they exist.
 */
export const migrate = Effect.gen(function* () {
  const before = yield* stepsNow
  if (before === null) yield* Effect.mapError(Migrator.make({})({ table, loader }), fromMigrationError)
  yield* checkVersion
  return { version, isNew: before === null }
})

/** Refuses a store without tables, or with tables of another version or program. */
export const checkVersion = Effect.gen(function* () {
  const steps = yield* stepsNow
  if (steps === null) return yield* new StoreFailed({ fault: "unmigrated", detail: "it has none" })
  yield* checkSteps(steps)
})
