/** The pending deliveries of each sink, and its dead letters (events that it gave up on). */
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { Ownership } from "./ownership.ts"
import type { Orders } from "./peers.ts"
import { forGroups, inGroups } from "./rows.ts"

/** The node of a delivery. Deliveries about the same node are made in order. */
export interface NodeKey {
  readonly account: string
  /** 0 if the event is about the account as a whole. */
  readonly node: number
}

/** Identifies a delivery. */
export interface DeliveryKey extends NodeKey {
  readonly seq: number
}

/** A pending delivery of an event to a sink. */
export interface Delivery extends DeliveryKey {
  /** Id of the event. */
  readonly id: string
  /** Number of failed attempts so far. */
  readonly attempt: number
  readonly dueMillis: number
  /**
   * If the delivery is a change of status that is held back to see whether it lasts: the state before the change, as JSON;
   * otherwise null.
   */
  readonly held: string | null
  /** The JSON to deliver; null if it is the JSON of the event in the log. */
  readonly body: string | null
}

interface DeadLetter extends DeliveryKey {
  readonly id: string
  readonly attempts: number
  readonly reason: string
  readonly diedAtMillis: number
  /** The event as JSON. */
  readonly body: string
}

/** A position in the dead letters of a sink. */
export type DeadLetterPlace = Pick<DeadLetter, "diedAtMillis" | "id">

/** How an attempt ended: the event was delivered, is due again, or was given up. */
export type AttemptEnd =
  | { readonly _tag: "Delivered"; readonly delivery: DeliveryKey }
  | { readonly _tag: "Due"; readonly delivery: Delivery }
  | { readonly _tag: "GivenUp"; readonly delivery: Delivery; readonly reason: string }

/** A delivery as text, for maps. */
export const keyOf = ({ account, node, seq }: DeliveryKey): string => `${account}/${seq}/${node}`

/** A node as text. */
export const nodeKeyOf = ({ account, node }: NodeKey): string => `${account}/${node}`

/** Adds and removes the rows of a sink, within a transaction. */
export const makeDeliveryRows = (sql: SqlClient.SqlClient) => {
  /** A condition that selects rows by their keys, in a table about deliveries. */
  const isOneOf = (table: "delivery" | "silenced_event", keys: ReadonlyArray<DeliveryKey>) => {
    const rows = keys.map(({ account, node, seq }) => sql`(${account}, ${seq}, ${node})`)
    return sql`(${sql(table)}.account, ${sql(table)}.seq, ${sql(table)}.node) IN (VALUES ${sql.csv(rows)})`
  }

  const drop = (sink: string, keys: ReadonlyArray<DeliveryKey>) =>
    forGroups(keys, (group) => sql`DELETE FROM delivery WHERE sink = ${sink} AND ${isOneOf("delivery", group)}`)

  /** Adds deliveries. `silenced`: 1 if they wait for the end of a silence. */
  const insert = (sink: string, deliveries: ReadonlyArray<Delivery>, silenced: 1 | null = null) =>
    forGroups(
      deliveries.map(({ dueMillis, ...delivery }) => ({ sink, ...delivery, due: dueMillis, silenced })),
      (group) => sql`INSERT INTO delivery ${sql.insert(group)} ON CONFLICT (sink, account, seq, node) DO NOTHING`
    )

  return { isOneOf, drop, insert }
}

export const makeDeliveries = (sql: SqlClient.SqlClient, { stillOwned }: Ownership, orders: Orders) => {
  const { drop, isOneOf } = makeDeliveryRows(sql)

  /** Deliveries of a sink that no silence holds, for some accounts, in the order of their events. Returns at most `max`. */
  const deliveries = (sink: string, accounts: ReadonlyArray<string>, max: number) =>
    sql<Delivery>`SELECT account, seq, node, id, attempt, due AS "dueMillis", held, body FROM delivery
      WHERE ${sql.and([sql`sink = ${sink}`, sql.in("account", accounts), sql`silenced IS NULL`])}
      ORDER BY account, seq, node LIMIT ${max}`

  /** The JSON of each delivery; null if the delivery is gone. */
  const bodiesOf = Effect.fn("Store.bodiesOf")(function* (sink: string, keys: ReadonlyArray<DeliveryKey>) {
    const bodies = new Map<string, string>()
    for (const group of inGroups(keys)) {
      const rows = yield* sql<DeliveryKey & { readonly body: string }>`
        SELECT delivery.account, delivery.seq, delivery.node, coalesce(delivery.body, event.body) AS body FROM delivery
        LEFT JOIN event ON event.account = delivery.account AND event.seq = delivery.seq
        WHERE delivery.sink = ${sink} AND ${isOneOf("delivery", group)}`
      for (const row of rows) bodies.set(keyOf(row), row.body)
    }
    return keys.map((key) => bodies.get(keyOf(key)) ?? null)
  })

  const bodyOf = (sink: string, key: DeliveryKey) => Effect.map(bodiesOf(sink, [key]), ([body]) => body ?? null)

  /** Schedules another attempt: stores its time, and the number of attempts so far. */
  const defer = (sink: string, { account, attempt, dueMillis, node, seq }: Delivery) =>
    sql`UPDATE delivery SET attempt = ${attempt}, due = ${dueMillis}
      WHERE sink = ${sink} AND account = ${account} AND seq = ${seq} AND node = ${node}`

  /** Turns a delivery into a dead letter. */
  const giveUp = Effect.fnUntraced(function* (sink: string, delivery: Delivery, reason: string) {
    const { account, attempt, id, node, seq } = delivery
    const body = yield* bodyOf(sink, delivery)
    if (body === null) return
    const died_at = yield* Clock.currentTimeMillis
    const letter = { sink, account, seq, node, id, attempts: attempt, reason, died_at, body }
    yield* sql`INSERT INTO dead_letter ${sql.insert(letter)} ON CONFLICT (sink, id) DO UPDATE SET
      attempts = excluded.attempts, reason = excluded.reason, died_at = excluded.died_at`
  })

  /**
   * Stores the outcomes of a sink's attempts, and since when the sink fails. One transaction stores many outcomes,
   * because waiting for the disk costs more than writing the rows. Drops outcomes for accounts that another process
   * took over, because that process repeats the attempts.
   */
  const record = Effect.fn("Store.recordAttempts")(function* (
    sink: string,
    ends: ReadonlyArray<AttemptEnd>,
    failingSinceMillis: number | null
  ) {
    const owned = yield* stillOwned(new Set(ends.map(({ delivery }) => delivery.account)))
    const done: Array<DeliveryKey> = []
    for (const end of ends) {
      if (!owned.has(end.delivery.account)) continue
      if (end._tag === "GivenUp") yield* giveUp(sink, end.delivery, end.reason)
      if (end._tag === "Due") yield* defer(sink, end.delivery)
      else done.push(end.delivery)
    }
    yield* drop(sink, done)
    yield* sql`UPDATE sink SET failing_since = ${failingSinceMillis}
      WHERE name = ${sink} AND failing_since IS DISTINCT FROM ${failingSinceMillis}`
  }, sql.withTransaction)

  /** The dead letters of a sink after a position, oldest first. Returns at most `max`. */
  const deadLetters = (
    sink: string,
    max: number,
    { diedAtMillis, id }: DeadLetterPlace = { diedAtMillis: -1, id: "" }
  ) =>
    sql<DeadLetter>`SELECT account, seq, node, id, attempts, reason, died_at AS "diedAtMillis", body FROM dead_letter
      WHERE sink = ${sink} AND (died_at, id) > (${diedAtMillis}, ${id}) ORDER BY died_at, id LIMIT ${max}`

  /** Turns the dead letters that match a condition into deliveries that are due now; returns their number. */
  const reviveWhere = Effect.fnUntraced(function* (sink: string, condition: Fragment) {
    const now = yield* Clock.currentTimeMillis
    yield* sql`INSERT INTO delivery (sink, account, seq, node, id, attempt, due, held, body)
      SELECT sink, account, seq, node, id, 0, ${now}, NULL, body FROM dead_letter WHERE sink = ${sink} AND ${condition}
      ON CONFLICT (sink, account, seq, node) DO NOTHING`
    return (yield* sql`DELETE FROM dead_letter WHERE sink = ${sink} AND ${condition} RETURNING id`).length
  })

  /** Makes a sink's dead letters deliveries again, and its waiting retries due now; returns the number of each. */
  const retry = Effect.fn("Store.retry")(function* (sink: string) {
    const now = yield* Clock.currentTimeMillis
    const waiting = yield* sql`UPDATE delivery SET attempt = 0, due = ${now} WHERE sink = ${sink} AND attempt > 0
      RETURNING id`
    yield* sql`UPDATE sink_cursor SET receiver = NULL WHERE sink = ${sink} AND receiver IS NOT NULL`
    yield* orders.note(sink)
    return { dead: yield* reviveWhere(sink, sql`1 = 1`), waiting: waiting.length }
  }, sql.withTransaction)

  /** Makes one dead letter a delivery again, due now; returns whether it existed. */
  const revive = Effect.fn("Store.revive")(function* (sink: string, id: string) {
    const revived = yield* reviveWhere(sink, sql`id = ${id}`)
    yield* orders.note(sink)
    return revived > 0
  }, sql.withTransaction)

  return { deliveries, bodyOf, bodiesOf, record, deadLetters, retry, revive }
}
