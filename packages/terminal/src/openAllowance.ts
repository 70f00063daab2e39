/**
 * The database through which processes of several machines share the allowance. It loads the driver, and is itself loaded only where a
 * setting names such a database.
 */
import * as AllowanceSql from "@berthkit/core/client/allowance/AllowanceSql"
import type { AllowanceStore } from "@berthkit/core/client/allowance/AllowanceStore"
import type { ClientOptions } from "@berthkit/core/client/options/Settings"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, type Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { schemaOf, shownAddress } from "./postgresAddress.ts"

/** The store of the account that a client with these options has. */
export type AllowanceStores = (
  options: Pick<ClientOptions, "baseUrl" | "credentials">
) => Effect.Effect<Effect.Effect<AllowanceStore>>

/** The statements of a process follow each other; what removes old rows runs beside them. */
const maxConnections = 2

/** The stores in a database that is open, at an address. */
export const allowanceStoresIn = Effect.fnUntraced(function* (
  client: SqlClient.SqlClient,
  address: Redacted.Redacted
): Effect.fn.Return<AllowanceStores> {
  const open = yield* Effect.provideService(
    AllowanceSql.make({ schema: schemaOf(address), name: shownAddress(address) }),
    SqlClient.SqlClient,
    client
  )
  // The options were checked when they were read.
  return (options) => Effect.map(Effect.orDie(AllowanceSql.fingerprintOf(options)), open)
})

/** The stores in the database at an address. It connects when the first of them is used. */
export const openAllowanceStores = Effect.fnUntraced(
  function* (address: Redacted.Redacted) {
    // A pooler may give each transaction another session, which has no statements of another one.
    const client = yield* PgClient.make({ url: address, applicationName: "berth", maxConnections, prepare: false })
    return yield* allowanceStoresIn(client, address)
  },
  Effect.provide(Reactivity.layer),
  Effect.orDie
)
