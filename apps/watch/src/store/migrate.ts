/**
 * Brings a store to the present schema, one numbered step after the other, all in one transaction.
 */
import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { migrationsTo, newest } from "./migrations.ts"
import { fromSqlError, StoreFailed } from "./StoreFailed.ts"

const table = "schema_version"

/** Makes the steps up to `last`; tests make older stores with it. */
export const migrateTo = (last: number) => Migrator.make({})({ table, loader: Migrator.fromRecord(migrationsTo(last)) })

/** The version of the schema; 0 where there is none, or it cannot be read. */
const versionNow = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ id: number | null }>`SELECT max(migration_id) AS id FROM ${sql(table)}`
  return Number(row?.id ?? 0)
}).pipe(Effect.orElseSucceed(() => 0))

export const fromMigrationError = (error: Migrator.MigrationError | SqlError): StoreFailed =>
  error._tag === "SqlError"
    ? fromSqlError(error)
    : error.kind === "Failed" && isSqlError(error.cause)
      ? fromSqlError(error.cause)
      : new StoreFailed({ fault: "statement", detail: error.message })

/** Makes the tables of the present version; gives it, and the one before. Where they are there, a user may use them who may make none. */
export const migrate = Effect.gen(function* () {
  const before = yield* versionNow
  if (before < newest) yield* Effect.mapError(migrateTo(newest), fromMigrationError)
  yield* checkVersion
  return { before, now: newest }
})

/** Refuses a store that a newer version made, whose tables may mean something else. */
export const checkVersion = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.mapError(
    sql<{ id: number }>`SELECT max(migration_id) AS id FROM ${sql(table)}`,
    fromSqlError
  )
  const version = Number(row?.id)
  if (version > newest) {
    const detail = `its schema is version ${version}, and this one knows ${newest}`
    return yield* new StoreFailed({ fault: "newer", detail })
  }
})
