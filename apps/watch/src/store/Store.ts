/**
 * What the daemon keeps: accounts with their nodes, the events, and how far each sink has got. The statements run on SQLite and on
 * PostgreSQL alike; which of them it is shows only where a store is opened.
 */
import * as SqliteClient from "@berth/sql-sqlite/SqliteClient"
import { existsSync, statSync } from "node:fs"
import { Context, Effect, Layer, Semaphore } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { daemonAccount } from "../events/DaemonFact.ts"
import type { EventFact } from "../events/Event.ts"
import { makeAccounts } from "./accounts.ts"
import { makeCatalogue } from "./catalogue.ts"
import { makeDeliveries } from "./deliveries.ts"
import { makeEvents } from "./events.ts"
import { checkVersion, migrate } from "./migrate.ts"
import { makePresent } from "./present.ts"
import { makeRetention } from "./retention.ts"
import { makeSilences } from "./silences.ts"
import { makeSinks } from "./sinks.ts"
import { makeStoreHealth, noteTurn } from "./StoreHealth.ts"
import { lockPath, lockStore, nameOwner } from "./StoreLock.ts"
import { fromSqlError, StoreFailed } from "./StoreFailed.ts"
import { makeSignal } from "./Signal.ts"

const makeStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { notify, wait } = makeSignal()
  const { health, watched } = makeStoreHealth()
  const accounts = makeAccounts(sql)
  const sinks = makeSinks(sql)
  const deliveries = makeDeliveries(sql)
  const silences = makeSilences(sql)
  // A claim ends the ownership of the one before: between it and its commit there may be no other.
  const ofDaemon = yield* Semaphore.make(1)
  /** Changes an account and adds its events, and wakes the readers of events. */
  const commit = (...args: Parameters<typeof accounts.commit>) =>
    Effect.tap(watched(accounts.commit(...args)), (events) => (events.length === 0 ? Effect.void : notify))
  return {
    ...accounts,
    commit,
    /** Adds events of the daemon itself. */
    commitOfDaemon: (events: ReadonlyArray<EventFact>) =>
      watched(accounts.claim(daemonAccount)).pipe(
        Effect.flatMap(({ owner }) => commit(owner, { events })),
        ofDaemon.withPermit
      ),
    ...makeEvents(sql),
    ...makePresent(sql),
    ...makeCatalogue(sql),
    ...sinks,
    take: (...args: Parameters<typeof sinks.take>) => watched(sinks.take(...args)),
    ...deliveries,
    ...silences,
    addSilence: (...args: Parameters<typeof silences.addSilence>) => Effect.tap(silences.addSilence(...args), notify),
    endSilence: (...args: Parameters<typeof silences.endSilence>) => Effect.tap(silences.endSilence(...args), notify),
    record: (...args: Parameters<typeof deliveries.record>) => watched(deliveries.record(...args)),
    ...makeRetention(sql),
    /** What keeps the store from being written; null while it is. */
    health,
    /** Writes something small, so that a store that takes nothing is noticed also while nothing happens. */
    probe: watched(noteTurn(sql)),
    /** Waits for events of this process that come after `seen`, a former answer; begin with 0. */
    newEvents: wait,
    /** Wakes the readers: something else than a commit gave them work. */
    wake: notify
  }
})

export class Store extends Context.Service<Store, Effect.Success<typeof makeStore>>()("@berth/watch/store/Store") {
  /** Over a database that is migrated first. */
  static readonly layerSql: Layer.Layer<Store, StoreFailed, SqlClient.SqlClient> = Layer.effect(
    Store,
    Effect.andThen(migrate, makeStore)
  )

  /** The store of a running daemon, in a file. Fails when another one runs on it. */
  static readonly layerFile = (path: string): Layer.Layer<Store | SqlClient.SqlClient, StoreFailed> =>
    Layer.effect(
      Store,
      Effect.gen(function* () {
        yield* checkFile
        yield* lockStore(path)
        yield* migrate
        yield* nameOwner
        return yield* makeStore
      })
    ).pipe(Layer.provideMerge(Layer.unwrap(Effect.as(checkLength(path), sqliteLayer({ filename: path })))))

  /** The same for a command that only reads. The file has to exist. */
  static readonly layerReader = (path: string): Layer.Layer<Store | SqlClient.SqlClient, StoreFailed> =>
    Layer.effect(Store, Effect.andThen(checkVersion, makeStore)).pipe(
      Layer.provideMerge(sqliteLayer({ filename: path, isReadOnly: true }))
    )
}

/** SQLite's words do not name the file. */
const named =
  ({ filename }: SqliteClient.SqliteOptions) =>
  (error: SqlError) => {
    const { detail, fault } = fromSqlError(error)
    return new StoreFailed({ fault, detail: `${filename}, ${detail}` })
  }

const sqliteLayer = (options: SqliteClient.SqliteOptions): Layer.Layer<SqlClient.SqlClient, StoreFailed> =>
  Layer.effect(SqlClient.SqlClient, Effect.mapError(SqliteClient.make(options), named(options))).pipe(
    Layer.provide(Reactivity.layer)
  )

/** SQLite makes a database of a file without content. Once a process has had the lock there was some. */
const checkLength = (path: string) =>
  Effect.suspend(() =>
    existsSync(lockPath(path)) && statSync(path, { throwIfNoEntry: false })?.size === 0
      ? new StoreFailed({ fault: "damaged", detail: `${path} is empty` })
      : Effect.void
  )

/** SQLite reads a damaged page as it is until something refers to it: only this finds most of it. */
const checkFile = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.mapError(sql<{ quick_check: string }>`PRAGMA quick_check(1)`, fromSqlError)
  if (row?.quick_check !== "ok") {
    return yield* new StoreFailed({ fault: "damaged", detail: row?.quick_check ?? "it does not answer" })
  }
})
