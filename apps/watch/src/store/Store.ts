/**
 * What the daemon keeps: accounts with their nodes, the events, and how far each sink has got. The statements run on SQLite and on
 * PostgreSQL alike; which of them it is shows only where a store is opened.
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

/** What a part of the store does, failing as the store does. */
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

/** The parts of the store are written in statements, whose failures become those of the store here. */
const failing = <Part extends object>(part: Part) =>
  Object.fromEntries(Object.entries(part).map(([name, does]) => [name, failingOne(does)])) as {
    readonly [Name in keyof Part]: Failing<Part[Name]>
  }

/** `shared`: how other processes on the same store are reached; null where there are none. */
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
  /** Counts events that were committed, and wakes their readers. */
  const noteCommitted = (account: string, events: ReadonlyArray<EventFact>) =>
    Effect.forEach(events, ({ type }) => Metric.update(Metric.withAttributes(eventCount, { account, type }), 1)).pipe(
      Effect.andThen(events.length === 0 ? Effect.void : notify)
    )
  return {
    ...accounts,
    /** Changes an account and adds its events. */
    commit: (owner: Owner, change: AccountChange) =>
      Effect.tap(watched(accounts.commit(owner, change)), noteCommitted(owner.account, change.events ?? [])),
    commitOfDaemon: (events: ReadonlyArray<EventFact>) =>
      Effect.tap(watched(accounts.commitOfDaemon(events)), noteCommitted(daemonAccount, events)),
    noteCommitted,
    /** Takes an account over, or makes it if the name is new, and wakes the deliveries of its events. */
    claim: (account: string) =>
      Effect.tap(
        watched(accounts.claim(account)),
        shared === null ? Effect.void : Effect.andThen(Metric.update(takeovers, 1), notify)
      ),
    /** Gives an account up. */
    release: (owner: Owner) =>
      Effect.andThen(
        Effect.sync(() => ownership.release(owner)),
        notify
      ),
    /** Whether other processes may have the store at the same time. */
    isShared: shared !== null,
    epochOf: ownership.epochOf,
    lost: ownership.lost,
    /** Does several things or none of them. */
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
    /** What keeps the store from being written; null while it is. */
    health,
    /** Writes something small, so that a store that takes nothing is noticed also while nothing happens. */
    probe: watched(noteTurn(sql)),
    /** Waits for events of this process that come after `seen`, a former answer; begin with 0. */
    newEvents: wait
  }
})

export class Store extends Context.Service<Store, Effect.Success<ReturnType<typeof makeStore>>>()(
  "@berthkit/watch/store/Store"
) {
  /** Over a database that is migrated first. */
  static readonly layerSql: Layer.Layer<Store, StoreFailed, SqlClient.SqlClient> = Layer.effect(
    Store,
    Effect.andThen(migrate, makeStore(null))
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
        return yield* makeStore(null)
      })
    ).pipe(Layer.provideMerge(Layer.unwrap(Effect.as(checkLength(path), sqliteLayer({ filename: path })))))

  /** The store of one of several processes, over a database that is migrated first. */
  static readonly layerShared: Layer.Layer<Store, StoreFailed, SqlClient.SqlClient | SharedStore> = Layer.effect(
    Store,
    Effect.andThen(migrate, Effect.flatMap(SharedStore, makeStore))
  )

  /** The same on a server. */
  static readonly layerServer = (
    address: Redacted.Redacted
  ): Layer.Layer<Store | SqlClient.SqlClient | SharedStore, StoreFailed> =>
    Store.layerShared.pipe(Layer.provideMerge(postgresLayer(address)))

  /** The same for a command, which has no account. The tables have to be there. */
  static readonly layerServerReader = (
    address: Redacted.Redacted
  ): Layer.Layer<Store | SqlClient.SqlClient | SharedStore, StoreFailed> =>
    Layer.effect(Store, Effect.andThen(checkVersion, Effect.flatMap(SharedStore, makeStore))).pipe(
      Layer.provideMerge(postgresLayer(address))
    )

  /** The store in a file, for a command that only reads. The file has to exist. */
  static readonly layerReader = (path: string): Layer.Layer<Store | SqlClient.SqlClient, StoreFailed> =>
    Layer.effect(Store, Effect.andThen(checkVersion, makeStore(null))).pipe(
      Layer.provideMerge(sqliteLayer({ filename: path, isReadOnly: true }))
    )
}

/** SQLite's messages do not name the file. */
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

/** SQLite turns an empty file into a new database. But where there is a lock file, the store had content once. */
const checkLength = (path: string) =>
  Effect.suspend(() =>
    existsSync(lockPath(path)) && statSync(path, { throwIfNoEntry: false })?.size === 0
      ? new StoreFailed({ fault: "damaged", detail: `${path} is empty` })
      : Effect.void
  )

/** SQLite notices a damaged page only when it uses it. This check finds most of the damage. */
const checkFile = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.mapError(sql<{ quick_check: string }>`PRAGMA quick_check(1)`, fromSqlError)
  if (row?.quick_check !== "ok") {
    return yield* new StoreFailed({ fault: "damaged", detail: row?.quick_check ?? "it does not answer" })
  }
})
