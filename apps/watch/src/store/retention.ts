/**
 * What is kept, and for how long. An event that an enabled sink has not read or not delivered stays, whatever its age.
 */
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { silenceShownMillis } from "./silences.ts"

export interface Retention {
  readonly eventsMillis: number
  /** Events of one account that are kept at most. */
  readonly maxEvents: number
  /** Bytes that the whole store takes at most, as far as fewer events can bring it there. */
  readonly maxBytes: number
  readonly deadLettersMillis: number
  /** Nodes that were reported deleted: as long as the service may give their ids again. */
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

/** Of an event in the indexes of PostgreSQL, about, and how many events are measured for the size of one. */
const indexBytes = 300
const sampledEvents = 100

/** Rows that one transaction removes: a commit waits for no more than that. */
const maxRemovedAtOnce = 250

export const makeRetention = (sql: SqlClient.SqlClient) => {
  /** The last event of an account that none of the sinks needs any more: all enabled ones have read and delivered it. */
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
   * What the rows and their indexes take; the room of removed ones is used again. The tables of PostgreSQL do not get smaller by that, so
   * there it is reckoned from the number of events, which have no gaps, and the size of the last of each account.
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

  /** Removes events of an account for which a condition holds, at most `maxRemovedAtOnce`, as an index orders them; gives them. */
  const removeSome = (account: string, condition: Fragment, order: Fragment) =>
    sql`DELETE FROM event WHERE account = ${account} AND seq IN (
      SELECT seq FROM event WHERE account = ${account} AND ${condition} ORDER BY ${order} LIMIT ${maxRemovedAtOnce}
    ) RETURNING seq`

  /** Repeats a step that removes some rows and gives them, until there are no more; gives how many there were. */
  const inSteps = Effect.fnUntraced(function* <E>(step: Effect.Effect<ReadonlyArray<unknown>, E>) {
    for (let pruned = 0; ;) {
      const removed = yield* step
      pruned += removed.length
      if (removed.length < maxRemovedAtOnce) return pruned
      // Between two transactions a commit gets its turn.
      yield* Effect.yieldNow
    }
  })

  /** Removes events, some of each account, until the store is no larger than it may be; gives how many. */
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

  /** Forgets the silences that ended before an instant, but not while something is held under one. */
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
   * The enabled sink that keeps most events from being removed, where the store is larger than it may be; null where it is not, or no
   * sink is the reason.
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

  /** Removes what is too old or too much for the sinks that the daemon has; gives how many events went. */
  const prune = Effect.fn("Store.prune")(function* (retention: Retention, sinks: ReadonlyArray<string>) {
    const now = yield* Clock.currentTimeMillis
    let pruned = 0
    const oldestMillis = now - retention.eventsMillis
    // One look at each account: most have nothing to remove, and this runs every few seconds.
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
      // Apart: each by the index that has it. Both at once would read every event.
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

  /** `storeBytes`: what the store takes, as `maxBytes` counts it. */
  return { prune, holderOf, storeBytes: bytes }
}
