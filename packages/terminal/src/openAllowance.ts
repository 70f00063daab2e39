/**
 * The database through which processes on several machines share the allowance. This module loads the driver, so it is loaded
 * only if a setting names such a database.
 */
import * as AllowanceSql from "@berthkit/core/client/allowance/AllowanceSql"
import type { AllowanceStore } from "@berthkit/core/client/allowance/AllowanceStore"
import type { ClientOptions } from "@berthkit/core/client/options/Settings"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, type Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { schemaOf, shownAddress } from "./postgresAddress.ts"

/** The store for the account of a client with these options. */
export type AllowanceStores = (
  options: Pick<ClientOptions, "baseUrl" | "credentials">
) => Effect.Effect<Effect.Effect<AllowanceStore>>

/** One connection for the statements of the process, which run one after the other, and one to remove old rows. */
const maxConnections = 2

/** The stores in an open database. */
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

/** The stores in the database at an address. The process connects at the first use. */
export const openAllowanceStores = Effect.fnUntraced(
  function* (address: Redacted.Redacted) {
    // A connection pooler may run each transaction in another session, and statements that were prepared in one session do
    // not exist in another.
    const client = yield* PgClient.make({ url: address, applicationName: "berth", maxConnections, prepare: false })
    return yield* allowanceStoresIn(client, address)
  },
  Effect.provide(Reactivity.layer),
  Effect.orDie
)
