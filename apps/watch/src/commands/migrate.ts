/**
 * `berth-watch migrate`: creates the tables of a store in PostgreSQL, including those of the cluster engine. The daemon also
 * creates them when it starts. If its database user does not have the rights, an administrator runs this command first.
 */
import { makeAllowanceTables } from "@berthkit/core/client/allowance/AllowanceTables"
import { isPostgres, schemaOf } from "@berthkit/terminal/postgresAddress"
import { Console, Effect, Redacted } from "effect"
import { fromStoreFailed, misused } from "../process/CommandFailed.ts"
import { type StoreOptions, storeSettings } from "../settings/storeSettings.ts"
import { migrate } from "../store/migrations.ts"
import { fromSqlError } from "../store/StoreFailed.ts"
import { postgresLayer, rightsIn, shownStore } from "../store/postgres.ts"

const migrateServer = Effect.fnUntraced(function* (schema: string) {
  const { migratePlacement } = yield* Effect.promise(() => import("../fleet/Placement.ts"))
  const versions = yield* migrate
  yield* migratePlacement(schema)
  yield* Effect.mapError(makeAllowanceTables(schema), fromSqlError)
  return versions
})

export const migrateStore = Effect.fn("migrate")(
  function* (options: StoreOptions) {
    const { store } = yield* storeSettings(options)
    if (!isPostgres(Redacted.value(store))) {
      return yield* misused(
        "migrate works only with a PostgreSQL store.",
        "A store in a file gets its tables when the daemon starts."
      )
    }
    const schema = schemaOf(store)
    const { isNew, version } = yield* Effect.provide(migrateServer(schema), postgresLayer(store))
    const what = `has the tables of version ${version} ${isNew ? "now; it had none." : "already."}`
    yield* Console.log(
      [
        `${shownStore(store)} ${what}`,
        "A role that runs the daemon and makes no tables needs:",
        ...rightsIn(schema)
      ].join("\n")
    )
  },
  Effect.catchTag("StoreFailed", (failed) => fromStoreFailed(failed))
)
