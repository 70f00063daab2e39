/** Decides how long data is kept. An event of any age is kept until every enabled sink has read and delivered it. */
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { silenceShownMillis } from "./silences.ts"

export interface Retention {
  readonly eventsMillis: number
  /** Maximum number of events per account. */
  readonly maxEvents: number
  /** Maximum size of the store in bytes. Only space that the removal of events can free counts. */
  readonly maxBytes: number
  readonly deadLettersMillis: number
  /** How long deleted nodes are remembered. The service may reuse their ids within this time. */
  readonly tombstonesMillis: number
}

const dayMillis = 86_400_000

export const defaultRetention: Retention = {
  eventsMillis: 90 * dayMillis,
  maxEvents: 10_000_000,
  maxBytes: 10_000_000_000,
  deadLettersMillis: 30 * dayMillis,
  tombstonesMillis: 400 * dayMillis
}

/** Approximate size of an event in PostgreSQL's indexes, and the number of events from which the average size is computed. */
const indexBytes = 450
const sampledEvents = 100

/** Maximum number of rows that one transaction removes. It is small, because a commit may have to wait for the transaction. */
const maxRemovedAtOnce = 250

export const makeRetention = (sql: SqlClient.SqlClient) => {
  /**
   * The sequence up to which no sink still needs the events of an account: all enabled sinks have read and delivered them.
   */
  const lastFree = (account: string, sinks: ReadonlyArray<string>) =>
    Effect.map(
      sql<{ seq: number | null }>`SELECT min(seq) AS seq FROM (
        SELECT seq FROM account WHERE name = ${account}
        UNION ALL SELECT sink_cursor.seq FROM sink_cursor JOIN sink ON sink.name = sink_cursor.sink
          WHERE sink_cursor.account = ${account} AND sink.disabled IS NULL AND ${sql.in("sink.name", sinks)}
        UNION ALL SELECT delivery.seq - 1 FROM delivery JOIN sink ON sink.name = delivery.sink
          WHERE delivery.account = ${account} AND delivery.body IS NULL AND sink.disabled IS NULL
          AND ${sql.in("delivery.sink", sinks)}
      ) AS needed`,
      ([row]) => row?.seq ?? 0
    )

  /**
   * The size of the rows and their indexes, without space that removed rows have left. PostgreSQL's tables do not
   * shrink when rows are removed, so the size there is an estimate: the number of events of each account (sequences
   * have no gaps) times the average size of its latest events.
   */
  const usedBytes = sql.onDialectOrElse({
    pg: () =>
      sql<{
        bytes: number
      }>`SELECT coalesce(ceil(sum((account.seq - kept.seq + 1) * (size.bytes + ${indexBytes}))), 0)::BIGINT AS bytes
        FROM account
        CROSS JOIN LATERAL (SELECT min(seq) AS seq FROM event WHERE event.account = account.name) AS kept
        CROSS JOIN LATERAL (SELECT avg(pg_column_size(last)) AS bytes FROM (
          SELECT * FROM event WHERE event.account = account.name ORDER BY seq DESC LIMIT ${sampledEvents}
        ) AS last) AS size`,
    orElse: () =>
      sql<{ bytes: number }>`SELECT (page_count - freelist_count) * page_size AS bytes
        FROM pragma_page_count, pragma_freelist_count, pragma_page_size`
  })

  /**
   * Removes events of an account that match a condition, at most `maxRemovedAtOnce`; returns the removed ones. `order` is the order of the
   * index to use. A cursor before a removed event is no longer accepted.
   */
  const removeSome = Effect.fnUntraced(function* (account: string, condition: Fragment, order: Fragment) {
    const removed = yield* sql<{ position: number }>`DELETE FROM event WHERE account = ${account} AND seq IN (
      SELECT seq FROM event WHERE account = ${account} AND ${condition} ORDER BY ${order} LIMIT ${maxRemovedAtOnce}
    ) RETURNING position`
    const last = removed.reduce((max, { position }) => Math.max(max, position), 0)
    if (last > 0) yield* sql`UPDATE log SET removed = ${last} WHERE removed < ${last}`
    return removed
  }, sql.withTransaction)

  /** Repeats a step that removes some rows until nothing is left; returns the total number. */
  const inSteps = Effect.fnUntraced(function* <E>(step: Effect.Effect<ReadonlyArray<unknown>, E>) {
    for (let pruned = 0; ;) {
      const removed = yield* step
      pruned += removed.length
      if (removed.length < maxRemovedAtOnce) return pruned
      // Let a commit run between two transactions.
      yield* Effect.yieldNow
    }
  })

  /** Removes the oldest events of each account until the store is within its limit; returns how many were removed. */
  const shrink = Effect.fnUntraced(function* (maxBytes: number, free: ReadonlyMap<string, number>) {
    let pruned = 0
    for (;;) {
      if (!(yield* isTooLarge(maxBytes))) return pruned
      let removed = 0
      for (const [account, last] of free) {
        removed += (yield* removeSome(account, sql`seq <= ${last}`, sql`seq`)).length
      }
      if (removed === 0) return pruned
      pruned += removed
      yield* Effect.yieldNow
    }
  })

  /** Removes silences that ended before an instant, unless something is still held under one. */
  const forgetSilences = Effect.fnUntraced(function* (beforeMillis: number) {
    const forgotten = yield* sql<{ id: string }>`SELECT id FROM silence WHERE until_at < ${beforeMillis}
      AND NOT EXISTS (SELECT 1 FROM silenced_event WHERE silenced_event.silence = silence.id AND outcome = 'held')`
    for (const { id } of forgotten) {
      yield* inSteps(sql`DELETE FROM silenced_event WHERE (silence, account, seq, node, sink) IN (
        SELECT silence, account, seq, node, sink FROM silenced_event WHERE silence = ${id} LIMIT ${maxRemovedAtOnce}
      ) RETURNING id`)
      yield* sql`DELETE FROM silence WHERE id = ${id}`
    }
  })

  const bytes = Effect.map(usedBytes, ([used]) => used?.bytes ?? 0)
  const isTooLarge = (maxBytes: number) => Effect.map(bytes, (bytes) => bytes > maxBytes)

  /**
   * If the store exceeds its limit, the enabled sink that keeps the most events from being removed. Null if the store is within
   * its limit, or no sink is the reason.
   */
  const holderOf = Effect.fn("Store.holderOf")(function* (maxBytes: number, sinks: ReadonlyArray<string>) {
    if (!(yield* isTooLarge(maxBytes))) return null
    const [holder] = yield* sql<{ sink: string; events: number }>`SELECT sink, sum(events) AS events FROM (
        SELECT sink_cursor.sink, account.seq - sink_cursor.seq AS events FROM sink_cursor
          JOIN account ON account.name = sink_cursor.account
        UNION ALL SELECT delivery.sink, count(*) AS events FROM delivery WHERE delivery.body IS NULL GROUP BY delivery.sink
      ) AS held JOIN sink ON sink.name = held.sink
      WHERE sink.disabled IS NULL AND ${sql.in("held.sink", sinks)} GROUP BY sink HAVING sum(events) > 0
      ORDER BY sum(events) DESC LIMIT 1`
    return holder ?? null
  })

  /**
   * Removes data that is too old, or above a limit, but no events that the given sinks still need. Returns the number of
   * removed events.
   */
  const prune = Effect.fn("Store.prune")(function* (retention: Retention, sinks: ReadonlyArray<string>) {
    const now = yield* Clock.currentTimeMillis
    let pruned = 0
    const oldestMillis = now - retention.eventsMillis
    // One query finds the accounts that have something to remove, because most have nothing, and this query runs every
    // few seconds.
    const accounts = yield* sql<{ name: string; seq: number; first: number | null; oldest: number | null }>`SELECT
      name, seq, (SELECT min(seq) FROM event WHERE event.account = account.name) AS first,
      (SELECT min(happened_at) FROM event WHERE event.account = account.name) AS oldest FROM account`
    const kept = accounts.flatMap(({ first, oldest, ...account }) =>
      first === null || oldest === null ? [] : [{ ...account, first, oldest }]
    )
    for (const { first, name, oldest, seq } of kept) {
      const surplus = seq - retention.maxEvents
      if (first > surplus && oldest >= oldestMillis) continue
      const last = yield* lastFree(name, sinks)
      // Two statements, each with its own index. One statement with both conditions would read every event.
      pruned += yield* inSteps(removeSome(name, sql`seq <= ${Math.min(last, surplus)}`, sql`seq`))
      pruned += yield* inSteps(
        removeSome(name, sql`seq <= ${last} AND happened_at < ${oldestMillis}`, sql`happened_at`)
      )
    }
    yield* inSteps(sql`DELETE FROM dead_letter WHERE (sink, id) IN (
      SELECT sink, id FROM dead_letter WHERE died_at < ${now - retention.deadLettersMillis} LIMIT ${maxRemovedAtOnce}
    ) RETURNING id`)
    yield* inSteps(sql`DELETE FROM node WHERE (account, id) IN (
      SELECT account, id FROM node WHERE gone_at < ${now - retention.tombstonesMillis} LIMIT ${maxRemovedAtOnce}
    ) RETURNING id`)
    yield* forgetSilences(now - Math.max(retention.deadLettersMillis, silenceShownMillis))
    if (!(yield* isTooLarge(retention.maxBytes))) return pruned
    const free = new Map<string, number>()
    for (const { name } of kept) free.set(name, yield* lastFree(name, sinks))
    return pruned + (yield* shrink(retention.maxBytes, free))
  })

  /** `storeBytes`: the size of the store, as `maxBytes` counts it. */
  return { prune, holderOf, storeBytes: bytes }
}
