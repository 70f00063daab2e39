/**
 * One daemon for each SQLite store. The lock is SQLite's own, on an empty database beside the store: the system releases it when
 * the process ends, however it ends, and readers of the store never meet it.
 */
import { realpathSync } from "node:fs"
import * as SqliteClient from "@berthkit/sql-sqlite/SqliteClient"
import { Clock, Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { fromSqlError, StoreFailed } from "./StoreFailed.ts"

/** Longer than a command holds the lock to see whether it is free. */
const maxLockWaitMillis = 250

/** Beside the file itself, whatever links lead to it. */
export const lockPath = (path: string): string => {
  try {
    return `${realpathSync(path)}-lock`
  } catch {
    return `${path}-lock`
  }
}

/** Takes the lock of the store at `path` for as long as the scope is open. */
export const lockStore = (path: string) =>
  SqliteClient.make({ filename: lockPath(path), journal: "file", maxLockWaitMillis }).pipe(
    Effect.provide(Reactivity.layer),
    Effect.tap((lock) => lock`BEGIN EXCLUSIVE`.unprepared),
    Effect.catch((error) => {
      const failed = fromSqlError(error)
      return failed.fault === "busy"
        ? Effect.flatMap(lastOwner, (owner) => {
            // One that has just started has not written down its number yet.
            const who = owner === null ? "another berth-watch" : `process ${owner.pid}`
            return new StoreFailed({ fault: "inUse", detail: `${who} runs on ${path}` })
          })
        : failed
    })
  )

/** Whether a process has the lock of the store at `path`. */
export const isLocked = (path: string): Effect.Effect<boolean> =>
  SqliteClient.make({ filename: lockPath(path), isReadOnly: true, maxLockWaitMillis: 0 }).pipe(
    Effect.provide(Reactivity.layer),
    Effect.flatMap((lock) => lock`SELECT count(*) FROM sqlite_master`.unprepared),
    Effect.match({ onSuccess: () => false, onFailure: (error) => fromSqlError(error).fault === "busy" }),
    Effect.scoped
  )

/** Writes down which process has the lock, for those that do not get it. */
export const nameOwner = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const row = { slot: 1, pid: process.pid, started_at: yield* Clock.currentTimeMillis, http: null }
  yield* sql`INSERT INTO process ${sql.insert(row)}
    ON CONFLICT (slot) DO UPDATE SET pid = excluded.pid, started_at = excluded.started_at, http = excluded.http`
}).pipe(Effect.mapError(fromSqlError))

/** Writes down where this process is reached; null where it is not. */
export const nameAddress = Effect.fnUntraced(function* (url: string | null) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE process SET http = ${url} WHERE slot = 1`
}, Effect.mapError(fromSqlError))

interface OwnerProcess {
  readonly pid: number
  /** Null while it is not reached over HTTP. */
  readonly http: string | null
}

/** The process that was the last to take the lock. It has it still only if the store is locked. */
export const lastOwner = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<OwnerProcess>`SELECT pid, http FROM process WHERE slot = 1`
  return row ?? null
}).pipe(Effect.orElseSucceed(() => null))
