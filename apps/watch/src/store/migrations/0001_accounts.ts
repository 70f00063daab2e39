/**
 * What is known of accounts and their nodes, and the events. Integers are 64 bits, instants are milliseconds since the epoch,
 * JSON is text: the same on SQLite and PostgreSQL.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const accounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE account (
    name TEXT NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    epoch BIGINT NOT NULL,
    version BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    fingerprint TEXT,
    swept_at BIGINT,
    standing TEXT
  )`
  yield* sql`CREATE TABLE node (
    account TEXT NOT NULL,
    id BIGINT NOT NULL,
    incarnation BIGINT NOT NULL,
    life BIGINT NOT NULL,
    status TEXT NOT NULL,
    changes BIGINT NOT NULL,
    gone_at BIGINT,
    body TEXT NOT NULL,
    PRIMARY KEY (account, id, incarnation)
  )`
  yield* sql`CREATE TABLE event (
    account TEXT NOT NULL,
    seq BIGINT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    node BIGINT,
    happened_at BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (account, seq)
  )`
  yield* sql`CREATE INDEX event_by_node ON event (account, node, seq)`
  yield* sql`CREATE INDEX event_by_time ON event (account, happened_at)`
})
