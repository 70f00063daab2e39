/**
 * Opens the database with the state that several machines share. This module loads the driver, so it is loaded only if a setting names such
 * a database.
 */
import { acceptStrangers } from "@berthkit/core/client/state/IntentSql"
import { makeRecords } from "@berthkit/core/client/state/RecordSql"
import type { RecordStore } from "@berthkit/core/client/state/RecordStore"
import { accountOf, make } from "@berthkit/core/client/state/SharedState"
import { makeTables, rightsIn } from "@berthkit/core/client/state/StateTables"
import { failedIn, open } from "@berthkit/core/client/state/StateSql"
import type { ClientOptions } from "@berthkit/core/client/options/Settings"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, type Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { schemaOf, shownAddress } from "./postgresAddress.ts"

/**
 * One connection would be enough for the creates, locks and records of a process, which wait for each other. The lease and the allowance
 * need other connections.
 */
const maxConnections = 4

// A connection pooler may run each transaction in another session, and statements that were prepared in one session do not
// exist in another.
const connect = (url: Redacted.Redacted) =>
  Effect.provide(
    Effect.orDie(PgClient.make({ url, applicationName: "berth", maxConnections, prepare: false })),
    Reactivity.layer
  )

/** The stores for the account of a client with these options. The process connects at the first use. */
export const openState = Effect.fnUntraced(function* (options: ClientOptions, address: Redacted.Redacted) {
  const stores = make(options, { schema: schemaOf(address), name: shownAddress(address) })
  // The options were checked when they were read.
  return yield* Effect.orDie(Effect.provideService(stores, SqlClient.SqlClient, yield* connect(address)))
})

/** Makes the tables that are missing. Returns the rights that a database role needs to use the tables. */
export const migrateState = Effect.fnUntraced(function* (address: Redacted.Redacted) {
  const schema = schemaOf(address)
  yield* Effect.mapError(
    Effect.provideService(makeTables(schema), SqlClient.SqlClient, yield* connect(address)),
    failedIn(shownAddress(address))
  )
  return rightsIn(schema)
}, Effect.scoped)

/** Accepts the listed nodes that no recorded create of the account explains. Returns these nodes. */
export const acceptNodes = Effect.fnUntraced(function* (options: ClientOptions, address: Redacted.Redacted) {
  const database = yield* Effect.provideService(
    open({ schema: schemaOf(address), name: shownAddress(address) }),
    SqlClient.SqlClient,
    yield* connect(address)
  )
  return yield* acceptStrangers(database, yield* Effect.orDie(accountOf(options)))
}, Effect.scoped)

/** The records of the account of a client with these options. */
export type RecordStores = (options: ClientOptions) => Effect.Effect<RecordStore>

/** The records in the database at an address, for any number of accounts over the same connections. It connects at the first use. */
export const openRecords = Effect.fnUntraced(function* (address: Redacted.Redacted) {
  const database = yield* Effect.provideService(
    open({ schema: schemaOf(address), name: shownAddress(address) }),
    SqlClient.SqlClient,
    yield* connect(address)
  )
  const stores: RecordStores = (options) =>
    Effect.map(Effect.orDie(accountOf(options)), (account) => makeRecords(database, account))
  return stores
})
