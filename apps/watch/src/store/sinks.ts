/** The sinks (receivers of events) in the store, whether they are enabled, and how far each has read. */
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Cursor } from "../events/Cursor.ts"
import type { DisabledReason } from "../events/DaemonFact.ts"
import { type Delivery, type DeliveryKey, makeDeliveryRows } from "./deliveries.ts"
import type { Ownership } from "./ownership.ts"
import type { Orders } from "./peers.ts"
import { makeSilencedRows, type SilencedEvent } from "./silences.ts"
import { StoreFailed } from "./StoreFailed.ts"

/** A sink in its last state. */
export interface SinkRow {
  readonly name: string
  /** Why it is disabled; null while it is enabled. */
  readonly disabled: DisabledReason | null
  readonly message: string | null
  /** When it was disabled or enabled. */
  readonly changedAtMillis: number
  /** Since when nothing was delivered; null if the last attempt succeeded. */
  readonly failingSinceMillis: number | null
}

/** The sequence of the last event that a sink has read, by account. */
export type SinkPlaces = ReadonlyMap<string, number>

/** How many events a sink has not delivered. */
export interface Backlog {
  /** Events that the sink has not read. */
  readonly unread: number
  /** Events that the sink has read but not delivered. */
  readonly pending: number
  /** Events that wait for the end of a silence. */
  readonly silenced: number
  /** Events that the sink gave up on. */
  readonly dead: number
}

/** The events of an account that a sink has just read, and the resulting deliveries. */
export interface Intake {
  readonly sink: string
  readonly account: string
  /** The sequence of the last event that the sink had read before; null if it starts with the account now. */
  readonly after: number | null
  /** The sequence of the last event that the sink has read now. */
  readonly seq: number
  readonly deliveries: ReadonlyArray<Delivery>
  /** Earlier deliveries that a newer event has made unnecessary. */
  readonly dropped: ReadonlyArray<DeliveryKey>
  /** The effect of silences; none by default. */
  readonly silenced?: SilencedIntake
}

/** The effect of silences on the events that a sink has read. */
export interface SilencedIntake {
  /** Deliveries that wait for the end of a silence, with their JSON. */
  readonly held: ReadonlyArray<Delivery>
  readonly events: ReadonlyArray<SilencedEvent>
}

export const makeSinks = (sql: SqlClient.SqlClient, { stillOwned }: Ownership, orders: Orders) => {
  const { drop, insert } = makeDeliveryRows(sql)
  const { forgetHeld, note } = makeSilencedRows(sql)

  const takeSilenced = (sink: string, { events, held }: SilencedIntake) =>
    Effect.andThen(insert(sink, held, 1), note(sink, events))

  const sinks = sql<SinkRow>`SELECT name, disabled, message, changed_at AS "changedAtMillis",
    failing_since AS "failingSinceMillis" FROM sink ORDER BY name`

  /** Creates the sink if it is new; returns whether it was. */
  const meet = Effect.fn("Store.meetSink")(function* (name: string) {
    const row = { name, changed_at: yield* Clock.currentTimeMillis }
    const made = yield* sql`INSERT INTO sink ${sql.insert(row)} ON CONFLICT (name) DO NOTHING RETURNING name`
    return made.length > 0
  })

  const placesOf = (sink: string) =>
    sql<{ account: string; seq: number }>`SELECT account, seq FROM sink_cursor WHERE sink = ${sink}`.pipe(
      Effect.map((rows): SinkPlaces => new Map(rows.map(({ account, seq }) => [account, seq])))
    )

  /** The cursor after all events that a sink has read, up to the first one that it has not read. */
  const cursorOf = (sink: string) =>
    sql<{ cursor: Cursor }>`SELECT coalesce(min((
        SELECT position - 1 FROM event
        WHERE event.account = sink_cursor.account AND event.seq > sink_cursor.seq ORDER BY seq LIMIT 1
      )), (SELECT position FROM log)) AS cursor FROM sink_cursor WHERE sink = ${sink}`.pipe(
      Effect.map(([row]) => row!.cursor)
    )

  /**
   * Moves a sink's place in an account. Fails if the place has changed, because another process owns the account now, or a person has set the sink
   * back.
   */
  const move = Effect.fnUntraced(function* (sink: string, account: string, after: number | null, seq: number) {
    const owned = yield* stillOwned(new Set([account]))
    const moved = owned.has(account)
      ? yield* after === null
          ? sql`INSERT INTO sink_cursor ${sql.insert({ sink, account, seq })}
              ON CONFLICT (sink, account) DO NOTHING RETURNING seq`
          : sql`UPDATE sink_cursor SET seq = ${seq} WHERE sink = ${sink} AND account = ${account} AND seq = ${after}
              RETURNING seq`
      : []
    if (moved.length > 0) return
    return yield* new StoreFailed({ fault: "lost", detail: `${sink} is no longer behind ${after} of ${account}` })
  })

  /** Stores where a sink starts in an account, unless it has started there already. */
  const begin = Effect.fn("Store.begin")(function* (sink: string, account: string, seq: number) {
    yield* sql`INSERT INTO sink_cursor ${sql.insert({ sink, account, seq })} ON CONFLICT (sink, account) DO NOTHING`
  })

  /** Moves a sink's place in an account and adds the resulting deliveries, in one transaction. */
  const take = Effect.fn("Store.take")(function* (intake: Intake) {
    const { account, after, deliveries, dropped, seq, silenced, sink } = intake
    yield* move(sink, account, after, seq)
    yield* drop(sink, dropped)
    yield* forgetHeld(sink, dropped)
    yield* insert(sink, deliveries)
    if (silenced !== undefined) yield* takeSilenced(sink, silenced)
  }, sql.withTransaction)

  /** The baseline of a new sink: the existing nodes in the store, and the sequence of the account's last event. */
  const baselineOf = Effect.fn("Store.baselineOf")(function* (account: string) {
    const [head] = yield* sql<{ seq: number }>`SELECT seq FROM account WHERE name = ${account}`
    const nodes = yield* sql<{ id: number; body: string }>`SELECT id, body FROM node
      WHERE account = ${account} AND gone_at IS NULL ORDER BY id`
    return { seq: head!.seq, nodes }
  })

  const setDisabled = Effect.fn("Store.setDisabled")(function* (
    sink: string,
    disabled: { readonly reason: DisabledReason; readonly message: string } | null
  ) {
    const changed_at = yield* Clock.currentTimeMillis
    yield* orders.note(sink)
    yield* sql`UPDATE sink SET disabled = ${disabled?.reason ?? null}, message = ${disabled?.message ?? null},
      changed_at = ${changed_at}, failing_since = NULL WHERE name = ${sink}`
    yield* sql`UPDATE sink_cursor SET receiver = NULL WHERE sink = ${sink} AND receiver IS NOT NULL`
  }, sql.withTransaction)

  /**
   * Sets a sink back to a cursor, in all accounts or in one. Events after the cursor are delivered again, with the same ids.
   */
  const replay = Effect.fn("Store.replay")(function* (sink: string, cursor: Cursor, only?: string) {
    yield* orders.note(sink)
    yield* sql`UPDATE sink SET replayed_at = ${yield* Clock.currentTimeMillis} WHERE name = ${sink}`
    const accounts = yield* sql<{ account: string; next: number | null }>`SELECT account, (
        SELECT seq FROM event WHERE event.account = sink_cursor.account AND position > ${cursor}
        ORDER BY position LIMIT 1
      ) AS next FROM sink_cursor WHERE sink = ${sink}`
    for (const { account, next } of accounts) {
      if (next === null || (only !== undefined && account !== only)) continue
      const seq = next - 1
      // Remove only deliveries whose event is in the log, because those come again. Nodes of a baseline, and events that are no
      // longer kept, would not.
      yield* sql`DELETE FROM delivery WHERE sink = ${sink} AND account = ${account} AND seq > ${seq}
        AND EXISTS (SELECT 1 FROM event WHERE event.id = delivery.id)`
      yield* sql`DELETE FROM silenced_event WHERE sink = ${sink} AND account = ${account} AND seq > ${seq}
        AND outcome = 'held' AND EXISTS (SELECT 1 FROM event WHERE event.id = silenced_event.id)`
      yield* sql`UPDATE sink_cursor SET seq = ${seq} WHERE sink = ${sink} AND account = ${account} AND seq > ${seq}`
    }
  }, sql.withTransaction)

  /** Forgets a sink, including its pending deliveries and dead letters. */
  const removeSink = Effect.fn("Store.removeSink")(function* (name: string) {
    for (const table of ["delivery", "silenced_event", "dead_letter", "sink_cursor"]) {
      yield* sql`DELETE FROM ${sql(table)} WHERE sink = ${name}`
    }
    yield* sql`DELETE FROM sink WHERE name = ${name}`
  }, sql.withTransaction)

  const backlog = Effect.fn("Store.backlog")(function* (sink: string) {
    const [row] = yield* sql<Backlog>`SELECT
      (SELECT coalesce(sum(account.seq - sink_cursor.seq), 0) FROM sink_cursor
        JOIN account ON account.name = sink_cursor.account WHERE sink_cursor.sink = ${sink}) AS unread,
      (SELECT count(*) FROM delivery WHERE sink = ${sink} AND silenced IS NULL) AS pending,
      (SELECT count(*) FROM delivery WHERE sink = ${sink} AND silenced IS NOT NULL) AS silenced,
      (SELECT count(*) FROM dead_letter WHERE sink = ${sink}) AS dead`
    return row!
  })

  return {
    ordersOf: orders.count,
    sinks,
    meet,
    begin,
    placesOf,
    cursorOf,
    take,
    baselineOf,
    setDisabled,
    replay,
    removeSink,
    backlog
  }
}
