/**
 * Ensures that only one daemon uses a SQLite store. The lock is SQLite's own lock on an empty database next to the store. The system
 * releases the lock whenever the process ends, even by a crash. The lock does not affect readers of the store.
 */
import { realpathSync } from "node:fs"
import * as SqliteClient from "@berthkit/sql-sqlite/SqliteClient"
import { Clock, Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { fromSqlError, StoreFailed } from "./StoreFailed.ts"

/** How long to wait for the lock. Commands that check whether the lock is free hold it for a shorter time. */
const maxLockWaitMillis = 250

/** The path of the lock: next to the real file, even if the store's path is a link. */
export const lockPath = (path: string): string => {
  try {
    return `${realpathSync(path)}-lock`
  } catch {
    return `${path}-lock`
  }
}

/** Holds the lock of the store at `path` until the scope closes. */
export const lockStore = (path: string) =>
  SqliteClient.make({ filename: lockPath(path), journal: "file", maxLockWaitMillis }).pipe(
    Effect.provide(Reactivity.layer),
    Effect.tap((lock) => lock`BEGIN EXCLUSIVE`.unprepared),
    Effect.catch((error) => {
      const failed = fromSqlError(error)
      return failed.fault === "busy"
        ? Effect.flatMap(lastOwner, (owner) => {
            // A process that has just started has not recorded its process id yet.
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

/** Records which process has the lock, so that a process that is refused can name it. */
export const nameOwner = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const row = { slot: 1, pid: process.pid, started_at: yield* Clock.currentTimeMillis, http: null }
  yield* sql`INSERT INTO process ${sql.insert(row)}
    ON CONFLICT (slot) DO UPDATE SET pid = excluded.pid, started_at = excluded.started_at, http = excluded.http`
}).pipe(Effect.mapError(fromSqlError))

/** Records the HTTP address of this process; null if it has none. */
export const nameAddress = Effect.fnUntraced(function* (url: string | null) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE process SET http = ${url} WHERE slot = 1`
}, Effect.mapError(fromSqlError))

interface OwnerProcess {
  readonly pid: number
  /** The address; null if the process has no HTTP interface. */
  readonly http: string | null
}

/** The process that took the lock last. It still has the lock only if the store is locked. */
export const lastOwner = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<OwnerProcess>`SELECT pid, http FROM process WHERE slot = 1`
  return row ?? null
}).pipe(Effect.orElseSucceed(() => null))
