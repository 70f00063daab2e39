/**
 * `berth-watch backup FILE`: a copy of the store as it is at one instant, beside a running daemon.
 */
import { Console, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CommandFailed } from "../process/CommandFailed.ts"
import { existsSync } from "node:fs"
import { fromSqlError } from "../store/StoreFailed.ts"

export const backup = Effect.fn("backup")(function* (file: string) {
  const sql = yield* SqlClient.SqlClient
  if (yield* Effect.sync(() => existsSync(file))) {
    return yield* new CommandFailed({ exit: "usage", message: `${file} exists already.`, hint: "Name another file." })
  }
  yield* Effect.mapError(sql`VACUUM INTO ${file}`.unprepared, fromSqlError)
  yield* Console.log(`The store is copied to ${file}.`)
})
