/**
 * `berth-watch status`: the accounts and sinks of the store, as JSON.
 */
import { Console, DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { formatCursor } from "../events/Cursor.ts"
import { Store } from "../store/Store.ts"
import { fromSqlError } from "../store/StoreFailed.ts"

const instant = (millis: number | null) => (millis === null ? null : DateTime.formatIso(DateTime.makeUnsafe(millis)))

export const status = Effect.gen(function* () {
  const store = yield* Store
  const sql = yield* SqlClient.SqlClient
  const counts = yield* Effect.mapError(
    sql<{ account: string; count: number }>`SELECT account, count(*) AS count FROM node WHERE gone_at IS NULL
      GROUP BY account`,
    fromSqlError
  )
  const accounts = (yield* store.heads)
    .filter(({ account }) => !account.startsWith("_"))
    .map(({ account, seq, sweptAtMillis }) => ({
      account,
      nodes: Number(counts.find((row) => row.account === account)?.count ?? 0),
      events: seq,
      sweptAt: instant(sweptAtMillis)
    }))
  const cursor = formatCursor(new Map((yield* store.heads).map(({ account, seq }) => [account, seq])))
  const sinks = yield* Effect.forEach(yield* store.sinks, ({ disabled, message, name }) =>
    Effect.map(store.backlog(name), (backlog) => ({ sink: name, disabled, message, ...backlog }))
  )
  yield* Console.log(JSON.stringify({ cursor, accounts, sinks }, null, 2))
})
