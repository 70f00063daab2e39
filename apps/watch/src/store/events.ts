/** Reads events: forward from a cursor, or the last ones; and the nodes at an earlier instant. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { beginning, type Cursor } from "../events/Cursor.ts"
import type { Cause } from "../diff/Cause.ts"
import { eventTypes } from "../events/Event.ts"
import type { StoredEvent } from "./accounts.ts"

/** Which events to read. */
export interface EventFilter {
  readonly account?: string | undefined
  /** A trailing `*` matches all types with that beginning. */
  readonly type?: string | undefined
  readonly node?: number | undefined
  /** Only deletions with this cause. */
  readonly cause?: Cause | undefined
  /** Id of a silence: only events that it covered. */
  readonly silence?: string | undefined
}

/** An event with its position in the log. */
export interface LoggedEvent extends StoredEvent {
  readonly position: Cursor
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

/** The only type of event with a cause. */
const deletion = "berth.node.deleted"

/** The types that a filter selects; null for all. */
const typesOf = ({ cause, type }: EventFilter): ReadonlyArray<string> | null => {
  if (type === undefined) return cause === undefined ? null : [deletion]
  const types = type.endsWith("*") ? eventTypes.filter((each) => each.startsWith(type.slice(0, -1))) : [type]
  if (cause !== undefined) return types.filter((each) => each === deletion)
  return types.length === eventTypes.length ? null : types
}

/** Types whose `before` and `after` are the whole record of a node. */
const withRecord = [
  "berth.node.created",
  "berth.node.discovered",
  "berth.node.status_changed",
  "berth.node.changed",
  deletion
]

export const makeEvents = (sql: SqlClient.SqlClient) => {
  const heads = sql<Head>`SELECT name AS account, id AS "accountId", seq, swept_at AS "sweptAtMillis"
    FROM account ORDER BY name`

  const causeOf = sql.onDialectOrElse({
    pg: () => sql`(body::json -> 'data' ->> 'cause')`,
    orElse: () => sql`json_extract(body, '$.data.cause')`
  })

  /** A condition on the events after a cursor for a filter, apart from their types. */
  const matching = (after: Cursor, { account, cause, node, silence }: EventFilter) =>
    sql.and([
      sql`position > ${after}`,
      ...(account === undefined ? [] : [sql`account = ${account}`]),
      ...(node === undefined ? [] : [sql`node = ${node}`]),
      ...(cause === undefined ? [] : [sql`${causeOf} = ${cause}`]),
      ...(silence === undefined
        ? []
        : [sql`(account, seq) IN (SELECT account, seq FROM silenced_event WHERE silence = ${silence})`])
    ])

  const columns = sql.literal(`account, seq, position, id, type, node, happened_at AS "atMillis", body`)

  /**
   * Reads `max` events after a cursor. If the filter selects by type, an index finds the events of each type. Without that index, looking
   * for a rare type would read the whole log. A node has few events, so the index by node is enough for them.
   */
  const read = (after: Cursor, filter: EventFilter, order: Fragment, max: number) => {
    const types = typesOf(filter)
    const condition = matching(after, filter)
    if (types === null || filter.node !== undefined) {
      const all = types === null ? condition : sql.and([condition, sql.in("type", types)])
      return sql<LoggedEvent>`SELECT ${columns} FROM event WHERE ${all} ORDER BY ${order} LIMIT ${max}`
    }
    const ofEach = types.map(
      (each) => sql`SELECT position FROM (
        SELECT position FROM event WHERE type = ${each} AND ${condition} ORDER BY ${order} LIMIT ${max}
      ) AS of_type`
    )
    return sql<LoggedEvent>`SELECT ${columns} FROM event
      WHERE position IN (${sql.join(" UNION ALL ", false, "SELECT -1")(ofEach)}) ORDER BY ${order} LIMIT ${max}`
  }

  /** At most `max` events after a cursor, in the order of the log. */
  const after = (cursor: Cursor, max: number, filter: EventFilter = {}) => read(cursor, filter, sql`position`, max)

  /** At most `max` of the last events, in the order of `after`. */
  const latest = (max: number, filter: EventFilter = {}) =>
    Effect.map(read(beginning, filter, sql`position DESC`, max), (events) => events.toReversed())

  /** At most `max` events of an account after the event with the sequence `seq`. */
  const eventsOf = (account: string, seq: number, max: number) =>
    sql<LoggedEvent>`SELECT ${columns} FROM event WHERE account = ${account} AND seq > ${seq} ORDER BY seq LIMIT ${max}`

  /** `end`: the position of the last event. `removed`: the last position whose event is no longer kept. */
  const log = Effect.map(
    sql<{ end: Cursor; removed: Cursor }>`SELECT position AS "end", removed FROM log`,
    ([row]) => row!
  )

  /** Sequence of the first kept event, by account. */
  const firstKept = Effect.map(
    sql<{ account: string; seq: number | null }>`SELECT name AS account,
      (SELECT min(seq) FROM event WHERE event.account = account.name) AS seq FROM account`,
    (rows) => new Map(rows.flatMap(({ account, seq }) => (seq === null ? [] : [[account, seq] as const])))
  )

  /**
   * The nodes that existed at an instant, as far back as events are kept. A node's state at the instant is the `before` of its first
   * event after the instant; if there is no such event, it is the current state. This function sorts the nodes itself, because sorting in
   * the database would read every event.
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

  return { heads, log, after, latest, eventsOf, firstKept, nodesAt, oldest }
}
