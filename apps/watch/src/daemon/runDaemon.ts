/** A daemon with one config, from opening its store to delivering its last event: accounts, sinks, HTTP, and periodic work. */
import { dirname } from "node:path"
import { makeOwnFolder } from "@berthkit/core/client/files/StateFiles"
import { Cause, Clock, Effect, Fiber, Layer, Option, Redacted, Result } from "effect"
import type { SqlClient } from "effect/sql"
import type { AccountOptions, WatchConfig } from "../config/Config.ts"
import { heartbeat } from "../deliver/heartbeat.ts"
import { Sinks } from "../deliver/Sinks.ts"
import type { StreamClosed } from "../deliver/Stdout.ts"
import type { Part } from "../fleet/runFleet.ts"
import { daemonAccount } from "../events/DaemonFact.ts"
import { HttpInterface, type NotServed } from "../http/HttpInterface.ts"
import { endedBy, fromBerthError, fromStoreFailed, misused } from "../process/CommandFailed.ts"
import { report } from "../process/report.ts"
import { feedWatchdog } from "../process/supervisor.ts"
import { fromSettingFault } from "../settings/runConfig.ts"
import type { RunSettings } from "../settings/RunSettings.ts"
import { Store } from "../store/Store.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { SharedStore } from "../store/peers.ts"
import { isPostgres, schemaOf } from "@berthkit/terminal/postgresAddress"
import { shownStore } from "../store/postgres.ts"
import { nameAddress } from "../store/StoreLock.ts"
import { isSwept } from "../telemetry/freshness.ts"
import { Progress } from "../telemetry/Progress.ts"
import { Troubles } from "../troubles/Troubles.ts"
import { makeBeginnings } from "./beginnings.ts"
import { keepConditions } from "./keepConditions.ts"
import { type Reported, reportTroubles } from "./reportTroubles.ts"
import { allowanceStores } from "./allowanceStores.ts"
import { recordStores } from "./recordStores.ts"
import { watchAccount } from "./watchAccount.ts"

/** How long to continue delivering after polling has ended; a stop takes at most 10 s in total. */
const maxDrain = "7 seconds"

/** The same limit for running deliveries if other processes wait for the accounts and will deliver the rest. */
const maxHandOver = "1 second"

/** Pauses between two removals of old data: while events arrive, and while no events arrive. */
const prunePause = "2 seconds"
const idlePrunePause = "10 seconds"

export interface DaemonOptions<A> {
  readonly config: WatchConfig
  readonly settings: RunSettings
  /**
   * Whether the config replaced another one. Then a refusal of its credentials at the start counts as a fault of the new
   * config.
   */
  readonly isReloaded: boolean
  /** The troubles that already have a line on stderr. */
  readonly reported: Reported
  /** Runs once store and HTTP are up. */
  readonly onReady: Effect.Effect<void>
  /** The daemon runs until this effect completes, and returns its result. */
  readonly until: Effect.Effect<A>
}

/** Opens the store of the config. */
const openStore = Effect.fnUntraced(function* (config: WatchConfig) {
  const path = Redacted.value(config.store)
  if (isPostgres(path)) {
    return Store.layerServer(config.store)
  }
  // The store's folder is made for the user only. If that fails, opening the store fails too, and reports why.
  yield* Effect.ignore(makeOwnFolder(dirname(path), 0))
  return Store.layerFile(path)
})

const namesOf = ({ accounts }: WatchConfig) => accounts.map(({ name }) => name)

/** Shows the accounts of the table from the start, like the accounts of the config. */
const meetTable = Effect.fnUntraced(function* (config: WatchConfig) {
  const { isShared, watchedAccounts } = yield* Store
  if (!isShared) return
  const progress = yield* Progress
  const names = new Set(namesOf(config))
  for (const { name, state } of yield* watchedAccounts(0)) {
    if (state === "removed") continue
    if (names.has(name)) {
      const message = `The account ${name} is in the config and also in the table of the store.`
      return yield* misused(message, `Run berth-watch account remove ${name}.`)
    }
    yield* state === "paused" ? progress.pause(name) : progress.meet(name)
  }
})

const layersOf = (config: WatchConfig, store: Layer.Layer<Store | SqlClient.SqlClient, StoreFailed>) =>
  HttpInterface.layer(config).pipe(
    Layer.provideMerge(Troubles.layer(config.retention)),
    Layer.provideMerge(Sinks.layer(config.sinks, namesOf(config))),
    Layer.provideMerge(Layer.effectDiscard(meetTable(config))),
    Layer.provideMerge(Layer.mergeAll(store, Progress.layer(namesOf(config))))
  )

/** Whether every account had a recent complete sweep. */
const isWell = Effect.gen(function* () {
  const accounts = yield* (yield* Progress).accounts
  const now = yield* Clock.currentTimeMillis
  return Array.from(accounts.values()).every((account) => account.state === "paused" || isSwept(account, now))
})

/**
 * Removes old data. If the space is used up and a sink has not delivered the oldest events, disables the sink, because
 * the disk is more important. If the store fails, the next round tries again.
 */
const prune = Effect.fnUntraced(function* ({ retention, sinks }: WatchConfig) {
  const store = yield* Store
  const { disableLagging } = yield* Sinks
  const names = sinks.map(({ name }) => name)
  const step = Effect.gen(function* () {
    yield* store.prune(retention, names)
    const holder = yield* store.holderOf(retention.maxBytes, names)
    if (holder === null) return
    yield* disableLagging(
      holder.sink,
      `${holder.events} of its events are undelivered, and the store is at its maxSize`
    )
    yield* store.prune(retention, names)
  })
  for (let seen = 0; ;) {
    yield* Effect.ignore(step)
    yield* Effect.sleep(prunePause)
    seen = yield* Effect.raceFirst(store.newEvents(seen), Effect.as(Effect.sleep(idlePrunePause), seen))
  }
})

/** The shared work. If several processes share a store, only one of them does it. */
const keepHouse = Effect.fnUntraced(function* (config: WatchConfig) {
  if (config.heartbeat === null) return yield* prune(config)
  const wellNow = Effect.provideService(isWell, Progress, yield* Progress)
  const beating = heartbeat(config.heartbeat, wellNow, (yield* Troubles).noteHeartbeat)
  return yield* Effect.raceFirst(prune(config), beating)
})

/**
 * Lets the cluster engine assign work to processes: the accounts of the config, those of the table, and accounts that are no
 * longer watched but still have events to deliver.
 */
const placeParts = Effect.fnUntraced(function* (config: WatchConfig, watch: (account: AccountOptions) => Part["run"]) {
  const store = yield* Store
  const { Placement } = yield* Effect.promise(() => import("../fleet/Placement.ts"))
  const { runFleet } = yield* Effect.promise(() => import("../fleet/runFleet.ts"))
  const { followTable } = yield* Effect.promise(() => import("./followTable.ts"))
  const engine = yield* Layer.build(Placement.layer(schemaOf(config.store)))
  const own = (name: string) => Effect.acquireRelease(store.claim(name), ({ owner }) => store.release(owner))
  const configured = new Set([...namesOf(config), daemonAccount])
  const left = (yield* store.heads).flatMap(({ account }) => (configured.has(account) ? [] : [account]))
  const parts = [
    ...config.accounts.map((account) => ({ name: account.name, run: watch(account) })),
    { name: daemonAccount, run: Effect.andThen(own(daemonAccount), keepHouse(config)) }
  ]
  const place = yield* Effect.provide(runFleet(parts), engine)
  yield* followTable({ configured, left, own, place, watch })
})

/** Whether another process waits for the accounts of this one. */
const hasOthers = Effect.gen(function* () {
  const shared = Option.getOrNull(yield* Effect.serviceOption(SharedStore))
  if (shared === null) return false
  return (yield* Effect.orElseSucceed(shared.processes, () => [])).some((name) => name !== shared.self)
})

/**
 * Delivers pending events for a while. If a sink is down, the next process delivers its events. If another process waits for the accounts,
 * that process delivers them, so the accounts are handed over once the running deliveries have ended.
 */
const drain = Effect.fnUntraced(function* (delivering: Fiber.Fiber<Result.Result<void, StoreFailed | StreamClosed>>) {
  const { handOver, idle } = yield* Sinks
  const { isShared } = yield* Store
  const ending = Effect.flatMap(hasOthers, (isWaitedFor) => (isWaitedFor ? handOver : Effect.ignore(idle)))
  const drained = yield* Effect.raceFirst(ending, Effect.asVoid(Fiber.await(delivering))).pipe(
    Effect.timeoutOption(isShared ? maxHandOver : maxDrain)
  )
  if (Option.isNone(drained) && !isShared) yield* report("berth-watch: stopped before the last events were delivered.")
})

const body = Effect.fnUntraced(function* <A>(options: DaemonOptions<A>) {
  const { config, isReloaded, onReady, reported, settings, until } = options
  const sinks = yield* Sinks
  const { url } = yield* HttpInterface
  const shared = Option.getOrNull(yield* Effect.serviceOption(SharedStore))
  const isShared = shared !== null
  const isOnly = config.accounts.length === 1 && !isShared
  const stores = yield* allowanceStores(config)
  const beginnings = yield* makeBeginnings
  const records = yield* recordStores
  const watch = (account: AccountOptions) =>
    watchAccount(account, { beginnings, settings, isOnly, isReloaded, stores, records })
  const polling = isShared ? [Effect.never] : yield* Effect.forEach(config.accounts, watch)
  const delivering = yield* Effect.forkScoped(Effect.result(sinks.run))
  if (shared !== null) {
    yield* shared.join([
      ...config.accounts.map(({ connection, name }) => `account ${name} at ${new URL(connection.baseUrl).origin}`),
      ...config.sinks.map(({ name }) => `sink ${name}`)
    ])
    const placing = placeParts(config, (account) => Effect.flatten(watch(account)))
    yield* Effect.provideService(placing, SharedStore, shared)
  } else {
    yield* Effect.forkScoped(keepHouse(config))
    yield* nameAddress(url)
  }
  const accounts = Array.from((yield* (yield* Progress).accounts).keys())
  yield* report(JSON.stringify({ http: url, store: shownStore(config.store), accounts }))
  yield* Effect.forkScoped(keepConditions)
  yield* Effect.forkScoped(reportTroubles(reported))
  yield* onReady
  yield* Effect.forkScoped(feedWatchdog)

  const ended = yield* Effect.result(
    Effect.raceAllFirst([
      Effect.asSome(until),
      Effect.as(
        Effect.forEach(polling, (poll) => poll, { concurrency: "unbounded" }),
        Option.none<A>()
      ),
      Effect.as(Fiber.await(delivering), Option.none<A>())
    ])
  )
  yield* drain(delivering)
  yield* Fiber.interrupt(delivering)
  if (Result.isFailure(ended)) return yield* ended.failure
  const delivered = yield* Fiber.await(delivering)
  if (delivered._tag === "Failure" && !Cause.hasInterruptsOnly(delivered.cause))
    return yield* Effect.failCause(delivered.cause)
  if (delivered._tag === "Success" && Result.isFailure(delivered.value)) return yield* delivered.value.failure
  return ended.success
})

/** Runs a daemon until `until` completes. Returns `None` if the reader of its stdout has gone. */
export const runDaemon = Effect.fn("runDaemon")(
  function* <A>(options: DaemonOptions<A>) {
    const store = yield* openStore(options.config)
    // The inner scope ends all running parts before the store closes, because they write to it.
    return yield* Effect.provide(Effect.scoped(body(options)), layersOf(options.config, store))
  },
  Effect.scoped,
  Effect.catchTags({
    BerthError: (failure) => fromBerthError(failure),
    StoreFailed: (failure: StoreFailed) => fromStoreFailed(failure),
    SettingFault: fromSettingFault,
    NotServed: ({ hint, message }: NotServed) => misused(message, hint),
    StreamClosed: (closed: StreamClosed) => Effect.as(endedBy(closed), Option.none())
  })
)
