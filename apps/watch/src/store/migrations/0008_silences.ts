/**
 * Silences, which events each of them covered in each sink, and which deliveries wait for the end of one. A delivery that waits has its
 * own body, so that it needs no event in the log. A sink has the instant at which a person asked it to deliver once more.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const silences = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE silence (
    id TEXT NOT NULL PRIMARY KEY,
    nodes TEXT NOT NULL,
    accounts TEXT NOT NULL,
    sinks TEXT NOT NULL,
    from_at BIGINT NOT NULL,
    until_at BIGINT NOT NULL,
    reason TEXT NOT NULL,
    at_end TEXT NOT NULL
  )`
  yield* sql`CREATE TABLE silenced_event (
    silence TEXT NOT NULL,
    account TEXT NOT NULL,
    seq BIGINT NOT NULL,
    node BIGINT NOT NULL,
    sink TEXT NOT NULL,
    id TEXT NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (silence, account, seq, node, sink)
  )`
  yield* sql`CREATE INDEX silenced_event_by_delivery ON silenced_event (sink, account, seq, node)`
  yield* sql`CREATE INDEX silenced_event_by_outcome ON silenced_event (outcome, silence, account, seq, node)`
  yield* sql`ALTER TABLE delivery ADD COLUMN silenced BIGINT`
  yield* sql`CREATE INDEX delivery_silenced ON delivery (sink, account, seq, node) WHERE silenced IS NOT NULL`
  yield* sql`ALTER TABLE sink ADD COLUMN replayed_at BIGINT`
})
