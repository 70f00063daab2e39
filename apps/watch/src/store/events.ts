/** Reads events: forward from a cursor, or the last ones; and the nodes at an earlier instant. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { Cursor } from "../events/Cursor.ts"
import { eventTypes } from "../events/Event.ts"
import type { StoredEvent } from "./accounts.ts"

/** Which events to read. */
export interface EventFilter {
  readonly account?: string | undefined
  /** A trailing `*` matches all types with that beginning. */
  readonly type?: string | undefined
  readonly node?: number | undefined
  /** Id of a silence: only events that it covered. */
  readonly silence?: string | undefined
}

/** A node at an instant: its record as JSON. */
export interface PastNode {
  readonly account: string
  readonly id: number
  readonly record: unknown
}

/** The sequence of each account's last event, and whether its nodes are known. */
export interface Head {
  readonly account: string
  readonly accountId: string
  readonly seq: number
  readonly sweptAtMillis: number | null
}

/** The types that a pattern matches; null for all. */
const typesOf = (pattern: string): ReadonlyArray<string> | null => {
  if (!pattern.endsWith("*")) return [pattern]
  const types = eventTypes.filter((type) => type.startsWith(pattern.slice(0, -1)))
  return types.length === eventTypes.length ? null : types
}

/** Types whose `before` and `after` are the whole record of a node. */
const withRecord = [
  "berth.node.created",
  "berth.node.discovered",
  "berth.node.status_changed",
  "berth.node.changed",
  "berth.node.deleted"
]

export const makeEvents = (sql: SqlClient.SqlClient) => {
  const heads = sql<Head>`SELECT name AS account, id AS "accountId", seq, swept_at AS "sweptAtMillis"
    FROM account ORDER BY name`

  /**
   * A condition on the events of an account for a filter. If the filter selects by type, an index finds the first `max` events
   * of each type. Without it, looking for a rare type would read the whole log.
   */
  const matching = (
    account: string,
    after: number,
    { node, silence, type }: EventFilter,
    order: Fragment,
    max: number
  ) => {
    const within = sql.and([
      sql`account = ${account}`,
      sql`seq > ${after}`,
      ...(silence === undefined
        ? []
        : [sql`seq IN (SELECT seq FROM silenced_event WHERE silence = ${silence} AND account = ${account})`])
    ])
    const types = type === undefined ? null : typesOf(type)
    // A node has few events, so the index of its events is enough.
    if (node !== undefined)
      return sql.and([within, sql`node = ${node}`, ...(types === null ? [] : [sql.in("type", types)])])
    if (types === null) return within
    const ofEach = types.map(
      (each) => sql`SELECT seq FROM (
        SELECT seq FROM event WHERE type = ${each} AND ${within} ORDER BY ${order} LIMIT ${max}
      ) AS of_type`
    )
    return sql`account = ${account} AND seq IN (${sql.join(" UNION ALL ", false, "SELECT -1")(ofEach)})`
  }

  const read = (account: string, after: number, filter: EventFilter, order: Fragment, max: number) =>
    sql<StoredEvent>`SELECT account, seq, id, type, node, happened_at AS "atMillis", body FROM event
      WHERE ${matching(account, after, filter, order, max)} ORDER BY ${order} LIMIT ${max}`

  const eventsOf = (account: string, after: number, filter: EventFilter, max: number) =>
    read(account, after, filter, sql`seq`, max)

  const lastEventsOf = (account: string, filter: EventFilter, max: number) =>
    Effect.map(read(account, 0, filter, sql`seq DESC`, max), (events) => events.toReversed())

  /** At most `max` events after a cursor. The events of each account are in order; the accounts are merged by time. */
  const after = Effect.fn("Store.eventsAfter")(function* (cursor: Cursor, max: number, filter: EventFilter = {}) {
    const behind = (yield* heads).filter(
      ({ account, seq }) =>
        seq > (cursor.get(account) ?? 0) && (filter.account === undefined || filter.account === account)
    )
    const read = yield* Effect.forEach(behind, ({ account }) =>
      eventsOf(account, cursor.get(account) ?? 0, filter, max)
    )
    if (read.length === 1) return read[0]!
    // Events of an account keep their order, even if their times are not in order because the wall clock was set back.
    return mergeByTime(read).slice(0, max)
  })

  /** At most `max` of the last events, in the order of `after`. */
  const latest = Effect.fn("Store.latestEvents")(function* (max: number, filter: EventFilter = {}) {
    const accounts = (yield* heads).filter(({ account }) => filter.account === undefined || filter.account === account)
    const read = yield* Effect.forEach(accounts, ({ account }) => lastEventsOf(account, filter, max))
    return mergeByTime(read).slice(-max)
  })

  /** Sequence of the first kept event, by account. */
  const firstKept = Effect.map(
    sql<{ account: string; seq: number | null }>`SELECT name AS account,
      (SELECT min(seq) FROM event WHERE event.account = account.name) AS seq FROM account`,
    (rows) => new Map(rows.flatMap(({ account, seq }) => (seq === null ? [] : [[account, seq] as const])))
  )

  /**
   * The nodes that existed at an instant, as far back as events are kept. A node's state at the instant is the `before` of its
   * first event after the instant; if there is no such event, it is the current state. The sorting is done here, because in the
   * database it would read every event.
   */
  const nodesAt = Effect.fn("Store.nodesAt")(function* (atMillis: number, account: string) {
    const changes = yield* sql<{ node: number; body: string }>`SELECT node, body FROM event
      WHERE seq IN (
        SELECT min(seq) FROM event
        WHERE ${sql.and([
          sql`account = ${account}`,
          sql`happened_at > ${atMillis}`,
          sql`node IS NOT NULL`,
          sql.in("type", withRecord)
        ])} GROUP BY node
      ) AND account = ${account}`
    const changed = new Map(changes.map(({ body, node }) => [node, JSON.parse(body).data.before as unknown]))
    const present = yield* sql<{ id: number; body: string }>`SELECT id, body FROM node
      WHERE account = ${account} AND gone_at IS NULL ORDER BY id`
    const unchanged = present
      .filter(({ id }) => !changed.has(id))
      .map(({ body, id }): PastNode => ({ account, id, record: JSON.parse(body).node }))
    const before = Array.from(changed)
      .filter(([, record]) => record !== null)
      .map(([id, record]): PastNode => ({ account, id, record }))
    return [...before, ...unchanged].toSorted((a, b) => a.id - b.id)
  })

  /** The time of the oldest kept event; null if there is none. `nodesAt` knows nothing about earlier instants. */
  const oldest = (account: string) =>
    Effect.map(
      sql<{ at: number | null }>`SELECT min(happened_at) AS at FROM event WHERE account = ${account}`,
      ([row]) => row?.at ?? null
    )

  return { heads, after, latest, firstKept, nodesAt, oldest }
}

/** Merges lists by the time of their heads, and keeps the order within each list. */
const mergeByTime = (lists: ReadonlyArray<ReadonlyArray<StoredEvent>>): ReadonlyArray<StoredEvent> => {
  const merged: Array<StoredEvent> = []
  const next = lists.map(() => 0)
  for (;;) {
    let oldest = -1
    for (const [index, list] of lists.entries()) {
      const event = list[next[index]!]
      if (event !== undefined && (oldest < 0 || event.atMillis < lists[oldest]![next[oldest]!]!.atMillis))
        oldest = index
    }
    if (oldest < 0) return merged
    merged.push(lists[oldest]![next[oldest]!++]!)
  }
}
