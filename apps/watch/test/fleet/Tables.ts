/** The tables of the store in memory. Statements run at once, without a network. The tables are made once for many simulations. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { loadSqlite } from "@berthkit/sql-sqlite/loadSqlite"
import { Effect, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import { makeCompilerSqlite } from "effect/sql/Statement"
import { migrate } from "../../src/store/migrations.ts"

export type Row = Record<string, any>

export const options = {
  compiler: makeCompilerSqlite(),
  driver: "simulated",
  spanAttributes: [],
  beginTransaction: "BEGIN IMMEDIATE",
  releaseSavepoint: (name: string) => `RELEASE SAVEPOINT ${name}`
}

/** A connection that runs its statements with a function. */
export const connectionOver = (
  ask: (sql: string, params: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>, SqlError>
): Connection => {
  const execute: Connection["execute"] = (sql, params, transformRows) =>
    Effect.map(ask(sql, params), (rows) => (transformRows === undefined ? rows : transformRows(rows)))
  const none = () => Effect.die(new Error("the store does not use it"))
  return {
    execute,
    executeRaw: ask,
    executeStream: (sql, params, transformRows) =>
      Stream.unwrap(Effect.map(execute(sql, params, transformRows), (rows) => Stream.fromIterable(rows))),
    executeValues: none,
    executeValuesUnprepared: none,
    executeUnprepared: execute
  }
}

const toInput = (value: unknown): SQLInputValue => {
  if (value === undefined) return null
  return typeof value === "boolean" ? Number(value) : (value as SQLInputValue)
}

const refused = (cause: unknown): SqlError => {
  if (cause instanceof Error && "errcode" in cause) Object.assign(cause, { errno: cause.errcode })
  const message = cause instanceof Error ? cause.message : String(cause)
  return new SqlError({ reason: classifySqliteError(cause, { message, operation: "execute" }) })
}

export class Tables {
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, StatementSync>()
  #names: ReadonlyArray<string> = []

  private constructor() {
    this.#database = new (loadSqlite().DatabaseSync)(":memory:")
    this.#database.exec("PRAGMA foreign_keys = ON")
  }

  static readonly make: Effect.Effect<Tables> = Effect.gen(function* () {
    const tables = new Tables()
    const client = yield* SqlClient.make({
      ...options,
      acquirer: Effect.succeed(connectionOver((sql, params) => tables.run(sql, params)))
    }).pipe(Effect.provide(Reactivity.layer))
    yield* Effect.orDie(Effect.provideService(migrate, SqlClient.SqlClient, client))
    tables.#names = tables.rows("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => name)
    return tables
  })

  /** Removes everything that an earlier simulation has left. */
  clear(): void {
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK")
    this.#database.exec("PRAGMA defer_foreign_keys = ON")
    this.#database.exec("BEGIN")
    for (const table of this.#names) {
      if (table !== "schema_version" && !table.startsWith("sqlite_")) this.#database.exec(`DELETE FROM "${table}"`)
    }
    this.#database.exec("INSERT INTO log (position, removed) VALUES (0, 0)")
    this.#database.exec("COMMIT")
  }

  rows(sql: string, params: ReadonlyArray<unknown> = []): ReadonlyArray<Row> {
    const known = this.#prepared.get(sql)
    const statement = known ?? this.#database.prepare(sql)
    if (known === undefined) this.#prepared.set(sql, statement)
    return statement.all(...params.map(toInput))
  }

  run(sql: string, params: ReadonlyArray<unknown>): Effect.Effect<ReadonlyArray<Row>, SqlError> {
    return Effect.suspend(() => this.attempt(sql, params))
  }

  /** Runs a statement now. */
  attempt(sql: string, params: ReadonlyArray<unknown>): Effect.Effect<ReadonlyArray<Row>, SqlError> {
    try {
      return Effect.succeed(this.rows(sql, params))
    } catch (cause) {
      return Effect.fail(refused(cause))
    }
  }
}
