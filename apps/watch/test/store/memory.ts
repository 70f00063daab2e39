/** A store in memory, with the tables of the present version. */
import * as SqliteClient from "@berthkit/sql-sqlite/SqliteClient"
import { Layer } from "effect"
import { Store } from "../../src/store/Store.ts"

export const memoryStore = Store.layerSql.pipe(
  Layer.provideMerge(Layer.orDie(SqliteClient.layer({ filename: ":memory:" })))
)
