/**
 * One daemon for each SQLite store. The lock is SQLite's own, on an empty database beside the store: the system releases it when
 * the process ends, however it ends, and readers of the store never meet it.
 */
import * as SqliteClient from "@berth/sql-sqlite/SqliteClient"
import { Clock, Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { type StoredInteger, toNumber } from "./rows.ts"
import { fromSqlError, StoreFailed } from "./StoreFailed.ts"

const lockPath = (path: string): string => `${path}-lock`

/** Takes the lock of the store at `path` for as long as the scope is open. */
export const lockStore = (path: string) =>
  SqliteClient.make({ filename: lockPath(path), journal: "file", maxLockWaitMillis: 0 }).pipe(
    Effect.provide(Reactivity.layer),
    Effect.tap((lock) => lock`BEGIN EXCLUSIVE`.unprepared),
    Effect.catch((error) => {
      const failed = fromSqlError(error)
      return failed.fault === "busy"
        ? Effect.flatMap(owner, (who) => new StoreFailed({ fault: "inUse", detail: `${who} runs on ${path}` }))
        : failed
    })
  )

/** Writes down which process has the lock, for those that do not get it. */
export const nameOwner = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const row = { slot: 1, pid: process.pid, started_at: yield* Clock.currentTimeMillis }
  yield* sql`INSERT INTO process ${sql.insert(row)}
    ON CONFLICT (slot) DO UPDATE SET pid = excluded.pid, started_at = excluded.started_at`
}).pipe(Effect.mapError(fromSqlError))

/** The process that has the lock; one that has just started has not written down its number yet. */
const owner = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ pid: StoredInteger }>`SELECT pid FROM process WHERE slot = 1`
  return row === undefined ? "another berth-watch" : `process ${toNumber(row.pid)}`
}).pipe(Effect.orElseSucceed(() => "another berth-watch"))
