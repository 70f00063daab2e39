/**
 * `berth-watch backup FILE`: copies the store as of one instant, while a daemon may be running. It is not offered over HTTP,
 * because a caller could then make the daemon write any file.
 */
import * as SqliteClient from "@berthkit/sql-sqlite/SqliteClient"
import { Console, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, rmSync } from "node:fs"
import { CommandFailed, fromStoreFailed, misused } from "../process/CommandFailed.ts"
import { type StoreOptions, storeSettings } from "../settings/storeSettings.ts"
import { isPostgres } from "@berthkit/terminal/postgresAddress"
import { Store } from "../store/Store.ts"
import { fromSqlError, type StoreFailed, type StoreFault } from "../store/StoreFailed.ts"

/** SQLite's messages do not say whether the copy or the store failed. The store was just read, so these messages are about the copy. */
const ofCopy: ReadonlySet<StoreFault> = new Set(["full", "unwritable", "unreadable"])

export const notCopied = (file: string, failed: StoreFailed): CommandFailed =>
  ofCopy.has(failed.fault)
    ? misused(`${file} cannot be written: ${failed.detail}.`, "Check its folder, and the room on its disk.")
    : fromStoreFailed(failed)

/** Makes the copy; removes an incomplete copy after a failure. */
const copyTo = Effect.fnUntraced(function* (file: string) {
  const sql = yield* SqlClient.SqlClient
  // SQLite would create a file that other users can read. It also accepts an empty file, so we create one that only we can
  // read.
  yield* Effect.sync(() => SqliteClient.makeOwnFile(file))
  yield* sql`VACUUM INTO ${file}`.unprepared.pipe(
    Effect.mapError((error) => notCopied(file, fromSqlError(error))),
    Effect.tapError(() => Effect.sync(() => rmSync(file, { force: true })))
  )
})

export const backup = Effect.fn("backup")(function* (options: StoreOptions, file: string) {
  const { store } = yield* storeSettings(options)
  const path = Redacted.value(store)
  if (isPostgres(path)) {
    return yield* misused("backup works only with a store in a file.", "Back up a PostgreSQL store with pg_dump.")
  }
  if (yield* Effect.sync(() => existsSync(file))) {
    return yield* misused(`${file} exists already.`, "Name another file.")
  }
  yield* Effect.provide(copyTo(file), Store.layerReader(path)).pipe(
    Effect.catchTag("StoreFailed", (failed) => fromStoreFailed(failed))
  )
  yield* Console.log(`Copied the store to ${file}.`)
})
