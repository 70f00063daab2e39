import * as SqliteClient from "@berthkit/sql-sqlite/SqliteClient"
import { Layer } from "effect"
import { Store } from "../../src/store/Store.ts"
import { storeContract } from "./storeContract.ts"

storeContract(
  "SQLite",
  Store.layerSql.pipe(Layer.provideMerge(Layer.orDie(SqliteClient.layer({ filename: ":memory:" }))))
)
