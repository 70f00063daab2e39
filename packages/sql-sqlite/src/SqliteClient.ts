/**
 * SQLite as `effect/sql`'s `SqlClient`, over Node's own `node:sqlite`. There is one connection, and its statements run one
 * after the other on the thread of the process. A transaction takes the write lock when it begins, and is on the disk after
 * its commit. Only the user can read the database files, whatever the umask.
 */
import { chmodSync, closeSync, openSync, statSync } from "node:fs"
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { Effect, Layer, type Scope, Semaphore, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import { makeCompilerSqlite } from "effect/sql/Statement"
import { loadSqlite } from "./loadSqlite.ts"
import { movedCode } from "./sqliteFault.ts"

export interface SqliteOptions {
  /** Path of the file, or `:memory:`. */
  readonly filename: string
  /** Whether the file must exist and stays unchanged. Default: false. */
  readonly isReadOnly?: boolean
  /** `wal` allows reads during a write; `file` keeps everything in a single file. Default: `wal`. */
  readonly journal?: "wal" | "file"
  /**
   * How long a statement waits for a lock of another process, in milliseconds. Meanwhile the thread is blocked. Default:
   * 5000.
   */
  readonly maxLockWaitMillis?: number
}

/** Maximum number of compiled statements in the cache. A program has far fewer different statements. */
const maxPrepared = 200

/** SQLite has no booleans, and rejects `undefined`. */
const toInput = (value: unknown): SQLInputValue => {
  if (value === undefined) return null
  return typeof value === "boolean" ? Number(value) : (value as SQLInputValue)
}

const attempt = <A>(operation: string, run: () => A): Effect.Effect<A, SqlError> =>
  Effect.try({
    try: run,
    catch: (cause) => {
      // Effect expects SQLite's code in `errno`, as other drivers report it.
      if (cause instanceof Error && "errcode" in cause) Object.assign(cause, { errno: cause.errcode })
      const message = cause instanceof Error ? cause.message : String(cause)
      return new SqlError({ reason: classifySqliteError(cause, { message, operation }) })
    }
  })

const ownMode = 0o600

/** Creates an empty file for its user only; does nothing if the path exists or cannot be created. */
export const makeOwnFile = (path: string): void => {
  try {
    closeSync(openSync(path, "wx", ownMode))
  } catch {
    // The code that opens the file next reports the reason.
  }
}

/**
 * Restricts a file to its user, if possible. It uses the path and not a descriptor, because closing a descriptor would drop
 * SQLite's locks.
 */
const makeOwn = (path: string): void => {
  try {
    if ((statSync(path).mode & 0o777) !== ownMode) chmodSync(path, ownMode)
  } catch {
    // The file does not exist, or belongs to another user.
  }
}

/**
 * Restricts a database and the files that SQLite puts next to it. SQLite gives new files the mode of the database, but files
 * of an older version may already exist.
 */
const makeAllOwn = (filename: string): void => {
  if (filename === ":memory:") return
  makeOwnFile(filename)
  for (const suffix of ["", "-wal", "-shm", "-journal"]) makeOwn(filename + suffix)
}

const open = ({
  filename,
  isReadOnly = false,
  journal = "wal",
  maxLockWaitMillis = 5000
}: SqliteOptions): DatabaseSync => {
  if (!isReadOnly) makeAllOwn(filename)
  const database = new (loadSqlite().DatabaseSync)(filename, { readOnly: isReadOnly, timeout: maxLockWaitMillis })
  try {
    database.exec("PRAGMA foreign_keys = ON")
    // SQLite cuts the write-ahead log to this size once its pages are in the database file. Otherwise the log would keep its
    // largest size.
    if (!isReadOnly && journal === "wal") database.exec(`PRAGMA journal_size_limit = ${maxIdleLogBytes}`)
    // With WAL, the writer and readers in other processes do not wait for each other. With FULL (below), a commit survives a
    // power cut.
    if (!isReadOnly && journal === "wal") database.exec("PRAGMA journal_mode = WAL")
    if (!isReadOnly) database.exec("PRAGMA synchronous = FULL")
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Size in bytes to which SQLite cuts the write-ahead log. */
const maxIdleLogBytes = 16 * 1024 * 1024

/** Identifies a file, whatever its name; null if it does not exist. */
const identityOf = (filename: string): string | null => {
  const stats = statSync(filename, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`
}

const changesNothing = /^\s*(?:SELECT|PRAGMA|COMMIT|ROLLBACK|RELEASE|SAVEPOINT)\b/i

/**
 * Refuses writes if the path no longer leads to the opened database, because data in an unlinked file would be lost.
 * SQLite has an error code for this case, but does not check for it in WAL mode.
 */
const makeGuard = (
  { filename, isReadOnly = false }: SqliteOptions,
  database: DatabaseSync
): ((sql: string) => void) => {
  if (isReadOnly || filename === ":memory:") return () => {}
  const opened = identityOf(filename)
  return (sql) => {
    if (database.isTransaction || changesNothing.test(sql) || identityOf(filename) === opened) return
    throw Object.assign(new Error(`${filename} was removed or replaced since it was opened`), { errcode: movedCode })
  }
}

const connectionOf = (
  database: DatabaseSync,
  guard: (sql: string) => void
): Connection & { readonly isTransaction: () => boolean } => {
  const prepared = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    if (prepared.size >= maxPrepared) prepared.clear()
    const statement = database.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }
  const all = (statement: StatementSync, params: ReadonlyArray<unknown>): ReadonlyArray<any> =>
    statement.all(...params.map(toInput))
  const values = (sql: string, params: ReadonlyArray<unknown>) =>
    attempt("execute", () => {
      const statement = database.prepare(sql)
      statement.setReturnArrays(true)
      return all(statement, params)
    })
  return {
    isTransaction: () => database.isTransaction,
    execute: (sql, params, transformRows) =>
      attempt("execute", () => {
        guard(sql)
        const rows = all(prepare(sql), params)
        return transformRows === undefined ? rows : transformRows(rows)
      }),
    executeRaw: (sql, params) =>
      attempt("execute", () => {
        guard(sql)
        return prepare(sql).run(...params.map(toInput))
      }),
    executeStream: (sql, params, transformRows) =>
      Stream.suspend(() => {
        // Do not use the cache, because a compiled statement can have only one reader at a time.
        const rows = attempt("stream", () => database.prepare(sql).iterate(...params.map(toInput)))
        return Stream.unwrap(Effect.map(rows, (iterable) => Stream.fromIterable(iterable))).pipe(
          Stream.map((row) => (transformRows === undefined ? row : transformRows([row])[0]))
        )
      }),
    executeValues: values,
    executeValuesUnprepared: values,
    executeUnprepared: (sql, params, transformRows) =>
      attempt("execute", () => {
        guard(sql)
        const rows = all(database.prepare(sql), params)
        return transformRows === undefined ? rows : transformRows(rows)
      })
  }
}

export const make = Effect.fnUntraced(function* (
  options: SqliteOptions
): Effect.fn.Return<SqlClient.SqlClient, SqlError, Scope.Scope | Reactivity.Reactivity> {
  const database = yield* Effect.acquireRelease(
    attempt("open", () => open(options)),
    (database) => Effect.sync(() => database.close())
  )
  const acquirers = SqlClient.makeSqliteAcquirers({
    connection: Effect.succeed(connectionOf(database, makeGuard(options, database))),
    semaphore: Semaphore.makeUnsafe(1),
    isTransaction: (connection) => connection.isTransaction()
  })
  return yield* SqlClient.make({
    ...acquirers,
    compiler: makeCompilerSqlite(),
    driver: "node-sqlite",
    spanAttributes: [["db.system.name", "sqlite"]],
    prepareTransactionControls: true,
    // A transaction that starts with a read could not get the lock later if another process has written in between.
    beginTransaction: "BEGIN IMMEDIATE",
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
})

export const layer = (options: SqliteOptions): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.effect(SqlClient.SqlClient, make(options)).pipe(Layer.provide(Reactivity.layer))
