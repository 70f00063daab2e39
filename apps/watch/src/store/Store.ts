/**
 * The daemon's store: accounts with their nodes, the events, and the progress of each sink. The same statements run on SQLite
 * and PostgreSQL; only opening a store differs.
 */
import * as SqliteClient from "@berthkit/sql-sqlite/SqliteClient"
import { existsSync, statSync } from "node:fs"
import { Context, Effect, Layer, Metric, type Redacted, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { daemonAccount } from "../events/DaemonFact.ts"
import type { EventFact } from "../events/Event.ts"
import { type AccountChange, makeAccounts } from "./accounts.ts"
import { makeConditions } from "./conditions.ts"
import { makeDeliveries } from "./deliveries.ts"
import { makeEvents } from "./events.ts"
import { checkVersion, migrate } from "./migrations.ts"
import { makeOwnership, type Owner, soleOwnership } from "./ownership.ts"
import { makeOrders, noPeers, SharedStore } from "./peers.ts"
import { postgresLayer } from "./postgres.ts"
import { makePresent } from "./present.ts"
import { makeRetention } from "./retention.ts"
import { makeSilences } from "./silences.ts"
import { makeSinks } from "./sinks.ts"
import { makeStoreHealth, noteTurn } from "./StoreHealth.ts"
import { lockPath, lockStore, nameOwner } from "./StoreLock.ts"
import { fromSqlError, StoreFailed } from "./StoreFailed.ts"
import { makeWatchedAccounts } from "./watchedAccounts.ts"
import { makeSignal } from "./Signal.ts"

const takeovers = Metric.counter("berth_takeovers_total", {
  description: "Accounts that this process took over since it began.",
  incremental: true
})

const eventCount = Metric.counter("berth_events_total", {
  description: "Events that were committed since the process began.",
  incremental: true
})

/** A method of a part of the store, with SQL errors replaced by the store's own error. */
type Failing<T> = T extends (...args: infer Args) => infer Result
  ? (...args: Args) => Failing<Result>
  : T extends Effect.Effect<infer A, SqlError | StoreFailed, infer R>
    ? Effect.Effect<A, StoreFailed, R>
    : T extends Stream.Stream<infer A, SqlError, infer R>
      ? Stream.Stream<A, StoreFailed, R>
      : never

const failingOne = (does: unknown): unknown => {
  if (Effect.isEffect(does))
    return Effect.mapError(does as Effect.Effect<unknown, SqlError | StoreFailed>, fromSqlError)
  if (Stream.isStream(does)) return Stream.mapError(does as Stream.Stream<unknown, SqlError>, fromSqlError)
  return (...args: ReadonlyArray<unknown>) =>
    failingOne((does as (...args: ReadonlyArray<unknown>) => unknown)(...args))
}

/** Converts SQL errors of a part of the store into the store's own error. */
const failing = <Part extends object>(part: Part) =>
  Object.fromEntries(Object.entries(part).map(([name, does]) => [name, failingOne(does)])) as {
    readonly [Name in keyof Part]: Failing<Part[Name]>
  }

/** `shared`: how to reach other processes on the same store; null if there are none. */
const makeStore = Effect.fnUntraced(function* (shared: SharedStore["Service"] | null) {
  const sql = yield* SqlClient.SqlClient
  const { notify, notifyUnsafe, wait } = makeSignal()
  const { health, watched } = makeStoreHealth(shared?.renew ?? Effect.void)
  const ownership = shared === null ? soleOwnership : makeOwnership(sql)
  const peers = shared ?? noPeers
  const orders = makeOrders(sql, shared)
  const accounts = failing(makeAccounts(sql, ownership, peers))
  const sinks = failing(makeSinks(sql, ownership, orders))
  const deliveries = failing(makeDeliveries(sql, ownership, orders))
  const silences = failing(makeSilences(sql, ownership, peers))
  if (shared !== null) yield* Effect.forkScoped(shared.listen(notifyUnsafe))
  /** Counts committed events, and wakes their readers. */
  const noteCommitted = (account: string, events: ReadonlyArray<EventFact>) =>
    Effect.forEach(events, ({ type }) => Metric.update(Metric.withAttributes(eventCount, { account, type }), 1)).pipe(
      Effect.andThen(events.length === 0 ? Effect.void : notify)
    )
  return {
    ...accounts,
    /** Changes an account, and adds the events about the change. */
    commit: (owner: Owner, change: AccountChange) =>
      Effect.tap(watched(accounts.commit(owner, change)), noteCommitted(owner.account, change.events ?? [])),
    commitOfDaemon: (events: ReadonlyArray<EventFact>) =>
      Effect.tap(watched(accounts.commitOfDaemon(events)), noteCommitted(daemonAccount, events)),
    noteCommitted,
    /** Takes over an account, or creates it if the name is new, and wakes the deliveries of its events. */
    claim: (account: string) =>
      Effect.tap(
        watched(accounts.claim(account)),
        shared === null ? Effect.void : Effect.andThen(Metric.update(takeovers, 1), notify)
      ),
    /** Gives up an account. */
    release: (owner: Owner) =>
      Effect.andThen(
        Effect.sync(() => ownership.release(owner)),
        notify
      ),
    /** Whether other processes may use the store at the same time. */
    isShared: shared !== null,
    epochOf: ownership.epochOf,
    lost: ownership.lost,
    /** Runs several changes in one transaction. */
    atomically: <A, R>(effect: Effect.Effect<A, StoreFailed, R>): Effect.Effect<A, StoreFailed, R> =>
      watched(Effect.mapError(sql.withTransaction(effect), fromSqlError)),
    ...failing(makeEvents(sql)),
    ...failing(makePresent(sql)),
    ...sinks,
    take: (...args: Parameters<typeof sinks.take>) => watched(sinks.take(...args)),
    ...deliveries,
    ...silences,
    addSilence: (...args: Parameters<typeof silences.addSilence>) => Effect.tap(silences.addSilence(...args), notify),
    endSilence: (...args: Parameters<typeof silences.endSilence>) => Effect.tap(silences.endSilence(...args), notify),
    record: (...args: Parameters<typeof deliveries.record>) => watched(deliveries.record(...args)),
    ...failing(makeConditions(sql, ownership)),
    ...failing(makeRetention(sql)),
    ...failing(makeWatchedAccounts(sql, peers)),
    /** What prevents writes to the store; null if nothing does. */
    health,
    /** Writes something small. If the store rejects writes, this shows it even while nothing happens. */
    probe: watched(noteTurn(sql)),
    /** Waits for events of this process after `seen`, an earlier result; start with 0. */
    newEvents: wait
  }
})

export class Store extends Context.Service<Store, Effect.Success<ReturnType<typeof makeStore>>>()(
  "@berthkit/watch/store/Store"
) {
  /** A store over any database. Its tables are created first if they are missing. */
  static readonly layerSql: Layer.Layer<Store, StoreFailed, SqlClient.SqlClient> = Layer.effect(
    Store,
    Effect.andThen(migrate, makeStore(null))
  )

  /** The store of a running daemon, in a file. Fails if another daemon uses it. */
  static readonly layerFile = (path: string): Layer.Layer<Store | SqlClient.SqlClient, StoreFailed> =>
    Layer.effect(
      Store,
      Effect.gen(function* () {
        yield* checkFile
        yield* lockStore(path)
        yield* migrate
        yield* nameOwner
        return yield* makeStore(null)
      })
    ).pipe(Layer.provideMerge(Layer.unwrap(Effect.as(checkLength(path), sqliteLayer({ filename: path })))))

  /** The store of one of several processes, over a shared database. Its tables are created first if they are missing. */
  static readonly layerShared: Layer.Layer<Store, StoreFailed, SqlClient.SqlClient | SharedStore> = Layer.effect(
    Store,
    Effect.andThen(migrate, Effect.flatMap(SharedStore, makeStore))
  )

  /** The store of one of several processes, on a PostgreSQL server. */
  static readonly layerServer = (
    address: Redacted.Redacted
  ): Layer.Layer<Store | SqlClient.SqlClient | SharedStore, StoreFailed> =>
    Store.layerShared.pipe(Layer.provideMerge(postgresLayer(address)))

  /** The store on a PostgreSQL server for a command, which owns no account. The tables must exist. */
  static readonly layerServerReader = (
    address: Redacted.Redacted
  ): Layer.Layer<Store | SqlClient.SqlClient | SharedStore, StoreFailed> =>
    Layer.effect(Store, Effect.andThen(checkVersion, Effect.flatMap(SharedStore, makeStore))).pipe(
      Layer.provideMerge(postgresLayer(address))
    )

  /** The store in a file, for a command that only reads. The file must exist. */
  static readonly layerReader = (path: string): Layer.Layer<Store | SqlClient.SqlClient, StoreFailed> =>
    Layer.effect(Store, Effect.andThen(checkVersion, makeStore(null))).pipe(
      Layer.provideMerge(sqliteLayer({ filename: path, isReadOnly: true }))
    )
}

/** Adds the name of the file to failures, because SQLite's messages do not contain it. */
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

/**
 * Refuses an empty file if there is a lock file next to it, because then the store once had content. SQLite would turn the file
 * into a new database.
 */
const checkLength = (path: string) =>
  Effect.suspend(() =>
    existsSync(lockPath(path)) && statSync(path, { throwIfNoEntry: false })?.size === 0
      ? new StoreFailed({ fault: "damaged", detail: `${path} is empty` })
      : Effect.void
  )

/** SQLite notices a damaged page only when it uses it. This check finds most damage. */
const checkFile = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.mapError(sql<{ quick_check: string }>`PRAGMA quick_check(1)`, fromSqlError)
  if (row?.quick_check !== "ok") {
    return yield* new StoreFailed({ fault: "damaged", detail: row?.quick_check ?? "it does not answer" })
  }
})
