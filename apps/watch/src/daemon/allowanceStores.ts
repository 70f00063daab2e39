/**
 * The database through which the daemon's accounts share their allowances with other processes: the one in `BERTH_STATE_URL`,
 * otherwise the daemon's own store if it is in PostgreSQL. A process that takes over an account therefore knows how many
 * requests the previous one spent.
 */
import { stateUrlSetting, readVariable } from "@berthkit/terminal/Connection"
import type { AllowanceStores } from "@berthkit/terminal/openAllowance"
import { isPostgres } from "@berthkit/terminal/postgresAddress"
import { Effect, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { WatchConfig } from "../config/Config.ts"

const load = Effect.promise(() => import("@berthkit/terminal/openAllowance"))

/** Undefined if each account uses a file. */
export const allowanceStores = Effect.fnUntraced(function* ({ store }: WatchConfig) {
  const address = yield* stateUrlSetting
  if (address !== undefined) return yield* (yield* load).openAllowanceStores(address)
  const isFileNamed = Option.isSome(yield* readVariable("BERTH_ALLOWANCE_FILE"))
  if (isFileNamed || !isPostgres(Redacted.value(store))) return undefined
  const stores: AllowanceStores = yield* (yield* load).allowanceStoresIn(yield* SqlClient.SqlClient, store)
  return stores
})
