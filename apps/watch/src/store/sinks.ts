/**
 * How far each sink has read, whether it is enabled, and what it still has to deliver or gave up on.
 */
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Cursor } from "../events/Cursor.ts"
import type { DisabledReason } from "../events/DaemonFact.ts"
import { inGroups, type StoredInteger, toNumber, toNumberOrNull } from "./rows.ts"
import type { SqlError } from "effect/sql/SqlError"
import { fromSqlError } from "./StoreFailed.ts"

/** Which delivery it is. */
export interface DeliveryKey {
  readonly account: string
  readonly seq: number
  /** 0 where the event is about the account as a whole. */
  readonly node: number
}

/** An event that a sink has still to deliver. */
export interface Delivery extends DeliveryKey {
  /** Id of the event. */
  readonly id: string
  /** Attempts that failed so far. */
  readonly attempt: number
  readonly dueMillis: number
  /** What the event changed from, while it is held back to see whether that lasts; null otherwise. */
  readonly held: string | null
  /** Its JSON, where that is not the one of the event in the log. */
  readonly body: string | null
}

/** A sink as it was left. */
export interface SinkRow {
  readonly name: string
  /** Why it is disabled; null while it is enabled. */
  readonly disabled: DisabledReason | null
  readonly message: string | null
  readonly changedAtMillis: number
  /** Since when nothing was delivered; null when the last attempt succeeded. */
  readonly failingSinceMillis: number | null
}

export interface DeadLetter extends DeliveryKey {
  readonly id: string
  readonly attempts: number
  readonly reason: string
  readonly diedAtMillis: number
}

/** What a sink has read, and what follows from it. */
export interface Intake {
  readonly sink: string
  readonly account: string
  /** The last event that was read. */
  readonly seq: number
  readonly deliveries: ReadonlyArray<Delivery>
  /** Deliveries that a later event made unnecessary. */
  readonly dropped: ReadonlyArray<DeliveryKey>
}

interface DeliveryRow {
  readonly account: string
  readonly seq: StoredInteger
  readonly node: StoredInteger
  readonly id: string
  readonly attempt: StoredInteger
  readonly due: StoredInteger
  readonly held: string | null
  readonly body: string | null
}

const toDelivery = (row: DeliveryRow): Delivery => ({
  account: row.account,
  seq: toNumber(row.seq),
  node: toNumber(row.node),
  id: row.id,
  attempt: toNumber(row.attempt),
  dueMillis: toNumber(row.due),
  held: row.held,
  body: row.body
})

export const makeSinks = (sql: SqlClient.SqlClient) => {
  const sinks = sql<{
    name: string
    disabled: string | null
    message: string | null
    changed_at: StoredInteger
    failing_since: StoredInteger | null
  }>`SELECT name, disabled, message, changed_at, failing_since FROM sink ORDER BY name`.pipe(
    Effect.map((rows) =>
      rows.map((row): SinkRow => ({
        name: row.name,
        disabled: row.disabled as DisabledReason | null,
        message: row.message,
        changedAtMillis: toNumber(row.changed_at),
        failingSinceMillis: toNumberOrNull(row.failing_since)
      }))
    ),
    Effect.mapError(fromSqlError)
  )

  /** Whether the sink is new; makes it if so. */
  const meet = Effect.fn("Store.meetSink")(function* (name: string) {
    const row = { name, changed_at: yield* Clock.currentTimeMillis }
    const made = yield* sql`INSERT INTO sink ${sql.insert(row)} ON CONFLICT (name) DO NOTHING RETURNING name`
    return made.length > 0
  }, Effect.mapError(fromSqlError))

  const cursorOf = (sink: string) =>
    sql<{ account: string; seq: StoredInteger }>`SELECT account, seq FROM sink_cursor WHERE sink = ${sink}`.pipe(
      Effect.map((rows): Cursor => new Map(rows.map(({ account, seq }) => [account, toNumber(seq)]))),
      Effect.mapError(fromSqlError)
    )

  const moveCursor = (sink: string, account: string, seq: number) =>
    sql`INSERT INTO sink_cursor ${sql.insert({ sink, account, seq })}
      ON CONFLICT (sink, account) DO UPDATE SET seq = excluded.seq`

  /** A condition on the deliveries of a sink. */
  const isOneOf = (keys: ReadonlyArray<DeliveryKey>) => {
    const rows = keys.map(({ account, node, seq }) => sql`(${account}, ${seq}, ${node})`)
    return sql`(delivery.account, delivery.seq, delivery.node) IN (VALUES ${sql.csv(rows)})`
  }

  const drop = (sink: string, keys: ReadonlyArray<DeliveryKey>) =>
    Effect.forEach(inGroups(keys), (group) => sql`DELETE FROM delivery WHERE sink = ${sink} AND ${isOneOf(group)}`, {
      discard: true
    })

  const insert = (sink: string, deliveries: ReadonlyArray<Delivery>) =>
    Effect.forEach(
      inGroups(deliveries.map(({ dueMillis, ...delivery }) => ({ sink, ...delivery, due: dueMillis }))),
      (group) => sql`INSERT INTO delivery ${sql.insert(group)} ON CONFLICT (sink, account, seq, node) DO NOTHING`,
      { discard: true }
    )

  /** Moves a sink's cursor, with the deliveries that follow from what it read, all or nothing. */
  const take = Effect.fn("Store.take")(
    ({ account, deliveries, dropped, seq, sink }: Intake) =>
      sql.withTransaction(
        drop(sink, dropped).pipe(
          Effect.andThen(insert(sink, deliveries)),
          Effect.andThen(moveCursor(sink, account, seq)),
          Effect.asVoid
        )
      ),
    Effect.mapError(fromSqlError)
  )

  /** Begins a sink with the nodes that exist: each is a delivery, and the cursor is behind the last event that they are the outcome of. */
  const takeBaseline = Effect.fn("Store.takeBaseline")(
    (sink: string, account: string, toDelivery: (seq: number, node: number, record: unknown) => Delivery | null) =>
      Effect.gen(function* () {
        const [head] = yield* sql<{ seq: StoredInteger }>`SELECT seq FROM account WHERE name = ${account}`
        const seq = toNumber(head!.seq)
        const nodes = yield* sql<{ id: StoredInteger; body: string }>`SELECT id, body FROM node
          WHERE account = ${account} AND gone_at IS NULL ORDER BY id`
        const deliveries = nodes
          .map(({ body, id }) => toDelivery(seq, toNumber(id), JSON.parse(body).node))
          .filter((delivery) => delivery !== null)
        yield* insert(sink, deliveries)
        yield* moveCursor(sink, account, seq)
        return { deliveries, seq }
      }).pipe(sql.withTransaction),
    Effect.mapError(fromSqlError)
  )

  /** The deliveries of a sink in the order of their events, at most `max`, from after one on. */
  const deliveries = (sink: string, max: number) =>
    sql<DeliveryRow>`SELECT account, seq, node, id, attempt, due, held, body FROM delivery
      WHERE sink = ${sink} ORDER BY account, seq, node LIMIT ${max}`.pipe(
      Effect.map((rows) => rows.map(toDelivery)),
      Effect.mapError(fromSqlError)
    )

  /** The JSON of each delivery; null where the delivery is gone. */
  const bodiesOf = Effect.fn("Store.bodiesOf")(function* (sink: string, keys: ReadonlyArray<DeliveryKey>) {
    const bodies = new Map<string, string>()
    const keyOf = (account: string, seq: StoredInteger, node: StoredInteger) => `${account}/${seq}/${node}`
    for (const group of inGroups(keys)) {
      const rows = yield* sql<{ account: string; seq: StoredInteger; node: StoredInteger; body: string }>`
        SELECT delivery.account, delivery.seq, delivery.node, coalesce(delivery.body, event.body) AS body FROM delivery
        LEFT JOIN event ON event.account = delivery.account AND event.seq = delivery.seq
        WHERE delivery.sink = ${sink} AND ${isOneOf(group)}`
      for (const { account, body, node, seq } of rows) bodies.set(keyOf(account, seq, node), body)
    }
    return keys.map(({ account, node, seq }) => bodies.get(keyOf(account, seq, node)) ?? null)
  }, Effect.mapError(fromSqlError))

  const bodyOf = (sink: string, key: DeliveryKey) => Effect.map(bodiesOf(sink, [key]), ([body]) => body ?? null)

  /** Deliveries that succeeded. */
  const delivered = Effect.fn("Store.delivered")(
    (sink: string, keys: ReadonlyArray<DeliveryKey>) =>
      sql.withTransaction(
        Effect.andThen(
          drop(sink, keys),
          sql`UPDATE sink SET failing_since = NULL WHERE name = ${sink} AND failing_since IS NOT NULL`
        )
      ),
    Effect.asVoid,
    Effect.mapError(fromSqlError)
  )

  /** A delivery that failed, and when it is due again. */
  const failed = Effect.fn("Store.failed")(
    (sink: string, delivery: Delivery, failingSinceMillis: number | null) =>
      sql.withTransaction(
        Effect.andThen(
          sql`UPDATE delivery SET attempt = ${delivery.attempt}, due = ${delivery.dueMillis} WHERE sink = ${sink}
            AND account = ${delivery.account} AND seq = ${delivery.seq} AND node = ${delivery.node}`,
          sql`UPDATE sink SET failing_since = ${failingSinceMillis} WHERE name = ${sink}`
        )
      ),
    Effect.asVoid,
    Effect.mapError(fromSqlError)
  )

  /** Gives a delivery up: it becomes a dead letter. */
  const giveUp = Effect.fn("Store.giveUp")(function* (sink: string, delivery: Delivery, reason: string) {
    const { account, attempt, id, node, seq } = delivery
    const body = yield* bodyOf(sink, delivery)
    const died_at = yield* Clock.currentTimeMillis
    const letter = { sink, account, seq, node, id, attempts: attempt, reason, died_at, body }
    const save: Effect.Effect<unknown, SqlError> =
      body === null
        ? Effect.void
        : sql`INSERT INTO dead_letter ${sql.insert(letter)} ON CONFLICT (sink, id) DO UPDATE SET
            attempts = excluded.attempts, reason = excluded.reason, died_at = excluded.died_at`
    yield* Effect.mapError(sql.withTransaction(Effect.andThen(save, drop(sink, [delivery]))), fromSqlError)
  })

  const deadLetters = (sink: string, max: number) =>
    sql<{
      account: string
      seq: StoredInteger
      node: StoredInteger
      id: string
      attempts: StoredInteger
      reason: string
      died_at: StoredInteger
    }>`SELECT account, seq, node, id, attempts, reason, died_at FROM dead_letter
      WHERE sink = ${sink} ORDER BY died_at, account, seq LIMIT ${max}`.pipe(
      Effect.map((rows) =>
        rows.map((row): DeadLetter => ({
          account: row.account,
          seq: toNumber(row.seq),
          node: toNumber(row.node),
          id: row.id,
          attempts: toNumber(row.attempts),
          reason: row.reason,
          diedAtMillis: toNumber(row.died_at)
        }))
      ),
      Effect.mapError(fromSqlError)
    )

  /** Makes deliveries of a sink's dead letters again; gives how many. */
  const revive = Effect.fn("Store.revive")(
    (sink: string) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        yield* sql`INSERT INTO delivery (sink, account, seq, node, id, attempt, due, held, body)
          SELECT sink, account, seq, node, id, 0, ${now}, NULL, body FROM dead_letter WHERE sink = ${sink}
          ON CONFLICT (sink, account, seq, node) DO NOTHING`
        return (yield* sql`DELETE FROM dead_letter WHERE sink = ${sink} RETURNING id`).length
      }).pipe(sql.withTransaction),
    Effect.mapError(fromSqlError)
  )

  const setDisabled = Effect.fn("Store.setDisabled")(function* (
    sink: string,
    disabled: { readonly reason: DisabledReason; readonly message: string } | null
  ) {
    const changed_at = yield* Clock.currentTimeMillis
    yield* sql`UPDATE sink SET disabled = ${disabled?.reason ?? null}, message = ${disabled?.message ?? null},
      changed_at = ${changed_at}, failing_since = NULL WHERE name = ${sink}`
  }, Effect.mapError(fromSqlError))

  /** Puts a sink back to a cursor: what came after is delivered once more, under the same ids. */
  const replay = Effect.fn("Store.replay")(
    (sink: string, cursor: Cursor) =>
      Effect.gen(function* () {
        const accounts = yield* sql<{ account: string }>`SELECT account FROM sink_cursor WHERE sink = ${sink}`
        for (const { account } of accounts) {
          const seq = cursor.get(account) ?? 0
          yield* sql`DELETE FROM delivery WHERE sink = ${sink} AND account = ${account} AND seq > ${seq}`
          yield* sql`UPDATE sink_cursor SET seq = ${seq} WHERE sink = ${sink} AND account = ${account} AND seq > ${seq}`
        }
      }).pipe(sql.withTransaction),
    Effect.mapError(fromSqlError)
  )

  /** How many events a sink has not read, how many it has still to deliver, how many it gave up on. */
  const backlog = Effect.fn("Store.backlog")(function* (sink: string) {
    const [row] = yield* sql<{ unread: StoredInteger; pending: StoredInteger; dead: StoredInteger }>`SELECT
      (SELECT coalesce(sum(account.seq - sink_cursor.seq), 0) FROM sink_cursor
        JOIN account ON account.name = sink_cursor.account WHERE sink_cursor.sink = ${sink}) AS unread,
      (SELECT count(*) FROM delivery WHERE sink = ${sink}) AS pending,
      (SELECT count(*) FROM dead_letter WHERE sink = ${sink}) AS dead`
    return { unread: toNumber(row!.unread), pending: toNumber(row!.pending), dead: toNumber(row!.dead) }
  }, Effect.mapError(fromSqlError))

  return {
    sinks,
    meet,
    cursorOf,
    take,
    takeBaseline,
    deliveries,
    bodyOf,
    bodiesOf,
    delivered,
    failed,
    giveUp,
    deadLetters,
    revive,
    setDisabled,
    replay,
    backlog
  }
}
