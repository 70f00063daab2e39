/**
 * SQLite as `effect/sql`'s `SqlClient`, over Node's own `node:sqlite`. One connection, whose statements run one after the other
 * on the thread of the process. A transaction takes the write lock when it begins, and is on the disk when it has committed. Its
 * files are for their user alone, whatever the umask.
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
  /** The file has to exist, and is not changed. Default: false. */
  readonly isReadOnly?: boolean
  /** `wal` lets others read while one writes; `file` is one file and no more. Default: `wal`. */
  readonly journal?: "wal" | "file"
  /** How long a statement waits for a lock that another process holds. The thread waits too. Default: 5000. */
  readonly maxLockWaitMillis?: number
}

/** Statements are compiled once: the texts of a program are few. */
const maxPrepared = 200

/** SQLite has no booleans, and takes no `undefined`. */
const toInput = (value: unknown): SQLInputValue => {
  if (value === undefined) return null
  return typeof value === "boolean" ? Number(value) : (value as SQLInputValue)
}

const attempt = <A>(operation: string, run: () => A): Effect.Effect<A, SqlError> =>
  Effect.try({
    try: run,
    catch: (cause) => {
      // Effect reads SQLite's code from `errno`, where other drivers have it.
      if (cause instanceof Error && "errcode" in cause) Object.assign(cause, { errno: cause.errcode })
      const message = cause instanceof Error ? cause.message : String(cause)
      return new SqlError({ reason: classifySqliteError(cause, { message, operation }) })
    }
  })

const ownMode = 0o600

/** Makes an empty file for its user alone; does nothing where something is already, or nothing can be made. */
export const makeOwnFile = (path: string): void => {
  try {
    closeSync(openSync(path, "wx", ownMode))
  } catch {
    // Whoever opens it next reports why.
  }
}

/** Takes a file from everybody but its user, where that can be done. Not through a descriptor: to close one drops SQLite's locks. */
const makeOwn = (path: string): void => {
  try {
    if ((statSync(path).mode & 0o777) !== ownMode) chmodSync(path, ownMode)
  } catch {
    // There is none, or it is another user's.
  }
}

/** SQLite gives the files beside a database the mode of the database; those of an older version may be there already. */
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
    // The log is cut back to this size once its pages are in the file; otherwise it would stay as large as it ever was.
    if (!isReadOnly && journal === "wal") database.exec(`PRAGMA journal_size_limit = ${maxIdleLogBytes}`)
    // Readers of other processes do not wait for the writer, nor it for them; FULL keeps a commit through a power cut.
    if (!isReadOnly && journal === "wal") database.exec("PRAGMA journal_mode = WAL")
    if (!isReadOnly) database.exec("PRAGMA synchronous = FULL")
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Size to which the write-ahead log is cut back. */
const maxIdleLogBytes = 16 * 1024 * 1024

/** Which file it is, whatever its name; null if there is none. */
const identityOf = (filename: string): string | null => {
  const stats = statSync(filename, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`
}

const changesNothing = /^\s*(?:SELECT|PRAGMA|COMMIT|ROLLBACK|RELEASE|SAVEPOINT)\b/i

/**
 * Refuses to write once another file, or none, is where the database was opened: what is written to an open file without a name is lost.
 * SQLite has a code for it, and looks only in other journal modes.
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
        // Of its own: a statement can be read by one reader at a time.
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
    // A transaction that read first could not get the lock later, if another process has written meanwhile.
    beginTransaction: "BEGIN IMMEDIATE",
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
})

export const layer = (options: SqliteOptions): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.effect(SqlClient.SqlClient, make(options)).pipe(Layer.provide(Reactivity.layer))
