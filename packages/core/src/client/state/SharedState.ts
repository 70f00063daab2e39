/**
 * The state of a client's account in a PostgreSQL database, for programs on several machines: keys and intents of creates, records and locks,
 * and the allowance. `berth state migrate` makes the tables.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import * as AllowanceSql from "../allowance/AllowanceSql.ts"
import { AllowanceStore } from "../allowance/AllowanceStore.ts"
import { IntentStore } from "../creation/IntentStore.ts"
import { accountIds } from "../files/accountId.ts"
import { builtin } from "../options/builtin.ts"
import { readVariable } from "../options/readVariable.ts"
import { type ClientOptions, type InvalidOption, settingsFrom } from "../options/Settings.ts"
import { ChangeLog } from "./ChangeLog.ts"
import { makeIntents } from "./IntentSql.ts"
import { noteChanges } from "./noteChanges.ts"
import { makeRecords } from "./RecordSql.ts"
import { RecordStore } from "./RecordStore.ts"
import { open, type StateAccount, type StateSqlOptions } from "./StateSql.ts"

export type { StateSqlOptions } from "./StateSql.ts"

/** The options that identify an account. */
type AccountOptions = Pick<ClientOptions, "baseUrl" | "credentials" | "account" | "project" | "location">

/** Identifies the account of these options in the tables, by hashes that reveal neither its key nor its service. */
export const accountOf = Effect.fnUntraced(function* (
  options: AccountOptions
): Effect.fn.Return<StateAccount, InvalidOption> {
  const settings = yield* Effect.fromResult(settingsFrom(options))
  // A program with a database has Node's modules, so this cannot fail.
  const { ofName, ofPlace, origin } = yield* Effect.orDie(accountIds(settings))
  const nodes = builtin("node:crypto")!.createHash("sha256").update(`nodes ${origin}`).digest("hex").slice(0, 32)
  return { id: ofName ?? ofPlace, key: ofName === undefined ? undefined : ofPlace, nodes }
})

/** The stores of an account over one database. No statement runs before the first use. */
export const make = Effect.fnUntraced(function* (
  options: AccountOptions,
  where: StateSqlOptions = {}
): Effect.fn.Return<Context.Context<never>, InvalidOption, SqlClient.SqlClient | Scope.Scope> {
  const account = yield* accountOf(options)
  const database = yield* open(where)
  const allowance = (yield* AllowanceSql.make(where))(yield* AllowanceSql.fingerprintOf(options))
  const records = makeRecords(database, account)
  return Context.make(IntentStore, makeIntents(database, account)).pipe(
    Context.add(RecordStore, records),
    Context.add(ChangeLog, yield* noteChanges(records, readVariable, Effect.logWarning)),
    Context.add(AllowanceStore, allowance)
  )
})

/**
 * Keeps the state of a client with these options in a database: `Layer.provide(Berth.layer(options), SharedState.layer(options))`. Creates
 * may then have a key, which makes exactly one node even if several machines use it. While the database cannot be reached, such creates
 * fail before anything is sent. Changes are recorded for `berth history`.
 */
export const layer = (
  options: AccountOptions,
  where?: StateSqlOptions
): Layer.Layer<never, InvalidOption, SqlClient.SqlClient> => Layer.effectContext(make(options, where))
