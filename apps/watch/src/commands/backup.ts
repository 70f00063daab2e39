/**
 * `berth-watch backup FILE`: a copy of the store as it is at one instant, read beside a running daemon: over HTTP its caller could
 * have a daemon write files wherever it may.
 */
import { Console, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { CommandFailed, fromStoreFailed } from "../process/CommandFailed.ts"
import { type StoreOptions, storeSettings } from "../settings/storeSettings.ts"
import { Store } from "../store/Store.ts"
import { fromSqlError } from "../store/StoreFailed.ts"

const copyTo = Effect.fnUntraced(function* (file: string) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.mapError(sql`VACUUM INTO ${file}`.unprepared, fromSqlError)
})

export const backup = Effect.fn("backup")(function* (options: StoreOptions, file: string) {
  const { path } = yield* storeSettings(options)
  if (yield* Effect.sync(() => existsSync(file))) {
    return yield* new CommandFailed({ exit: "usage", message: `${file} exists already.`, hint: "Name another file." })
  }
  yield* Effect.mapError(Effect.provide(copyTo(file), Store.layerReader(path)), fromStoreFailed)
  yield* Console.log(`The store is copied to ${file}.`)
})
