/**
 * How far each sink has read, what it still has to deliver, and what it gave up on. A delivery without a body of its own is of the
 * event with its sequence. `node` is 0 where an event is about the account as a whole. One row names the process that runs.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const sinks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE sink (
    name TEXT NOT NULL PRIMARY KEY,
    disabled TEXT,
    message TEXT,
    changed_at BIGINT NOT NULL,
    failing_since BIGINT
  )`
  yield* sql`CREATE TABLE sink_cursor (
    sink TEXT NOT NULL,
    account TEXT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (sink, account)
  )`
  yield* sql`CREATE TABLE delivery (
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
  )`
  yield* sql`CREATE INDEX delivery_by_event ON delivery (account, seq)`
  yield* sql`CREATE INDEX delivery_by_node ON delivery (sink, account, node, seq)`
  yield* sql`CREATE TABLE dead_letter (
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
  )`
  yield* sql`CREATE TABLE process (slot BIGINT NOT NULL PRIMARY KEY, pid BIGINT NOT NULL, started_at BIGINT NOT NULL)`
})
