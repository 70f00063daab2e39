/**
 * Decides which of several daemon processes runs which part of the work, with Effect Cluster (the "engine") over their shared
 * store. Each part is a singleton: the engine runs it in one process at a time, as far as it knows. If two processes still
 * overlap, the store's epochs let only the newer one write.
 */
import { Context, Effect, Layer, Option, Predicate, References, type Scope, Semaphore } from "effect"
import {
  MessageStorage,
  RunnerAddress,
  RunnerHealth,
  Runners,
  RunnerStorage,
  Sharding,
  ShardingConfig,
  SqlRunnerStorage
} from "effect/cluster"
import type { Migrator, SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { SharedStore } from "../store/peers.ts"
import { processExpirySeconds } from "../store/postgres.ts"
import { fromMigrationError } from "../store/migrations.ts"
import { fromSqlError, type StoreFailed } from "../store/StoreFailed.ts"

const config = (self: string) =>
  ShardingConfig.layer({
    // The address is only a name in a table; nothing is sent to it.
    runnerAddress: Option.some(RunnerAddress.make(self, 0)),
    // Two versions of the program that run at once must agree on this number, even if the engine's default changes.
    shardsPerGroup: 300,
    shardLockExpiration: `${processExpirySeconds} seconds`,
    // Also the time limit of a statement about locks. If one takes longer, this process stops all that it runs.
    shardLockRefreshInterval: "2 seconds",
    refreshAssignmentsInterval: "1 second",
    runnerJoinDebounce: "1 second",
    entityTerminationTimeout: "2 seconds"
  })

/**
 * Creates the engine's tables in advance, for processes that do not have the rights to create them. `prefix`: see `Placement.layer`.
 */
export const migratePlacement = (prefix: string): Effect.Effect<void, StoreFailed, SqlClient.SqlClient> =>
  Layer.build(SqlRunnerStorage.layerMigrations({ prefix })).pipe(
    Effect.scoped,
    Effect.asVoid,
    Effect.catchDefect((defect) =>
      isSqlError(defect) || Predicate.isTagged(defect, "MigrationError")
        ? Effect.fail(fromMigrationError(defect as SqlError | Migrator.MigrationError))
        : Effect.die(defect)
    )
  )

/**
 * The engine's locks, released one after the other. The engine starts the releases of hundreds of locks at the same moment, each with a
 * statement of its own on one connection and the same time limit. On a slow server most would fail, and all that this process runs would
 * stop. A process that ends releases all of its locks at once, so that the others need not wait.
 */
export const inTurn = (storage: RunnerStorage.RunnerStorage["Service"], isEnding: () => boolean) =>
  Effect.map(Semaphore.make(1), (turn): RunnerStorage.RunnerStorage["Service"] => {
    // The engine also releases all locks at once if it could not renew them. It may then take a lock again for which a release still waits.
    let releasedAll = 0
    let isLeft = false
    const releaseAll: typeof storage.releaseAll = (address) =>
      Effect.tap(storage.releaseAll(address), () => Effect.sync(() => releasedAll++))
    return {
      ...storage,
      releaseAll,
      release: (address, shard) =>
        Effect.suspend(() => {
          const before = releasedAll
          return turn.withPermit(
            Effect.suspend(() => {
              if (releasedAll !== before || isLeft) return Effect.void
              if (!isEnding()) return storage.release(address, shard)
              return Effect.tap(releaseAll(address), () => Effect.sync(() => (isLeft = true)))
            })
          )
        })
    }
  })

const locks = (prefix: string, isEnding: () => boolean) =>
  Layer.effect(
    RunnerStorage.RunnerStorage,
    Effect.flatMap(RunnerStorage.RunnerStorage, (storage) => inTurn(storage, isEnding))
  ).pipe(Layer.provide(SqlRunnerStorage.layerWith({ prefix })))

export class Placement extends Context.Service<
  Placement,
  {
    /**
     * Registers an effect, which the engine runs in one of the processes. When the scope closes in that process, another one
     * runs it.
     */
    readonly place: <R>(
      name: string,
      run: Effect.Effect<never, never, R>
    ) => Effect.Effect<void, never, R | Scope.Scope>
  }
>()("@berthkit/watch/fleet/Placement") {
  /**
   * `prefix` begins the names of the engine's tables and locks. Two groups of processes in one database need different
   * prefixes.
   */
  static readonly layer = (prefix: string): Layer.Layer<Placement, StoreFailed, SqlClient.SqlClient | SharedStore> => {
    let isEnding = false
    const engine = Layer.unwrap(
      Effect.map(SharedStore, ({ self }) =>
        Sharding.layer.pipe(
          Layer.provide(Layer.mergeAll(Runners.layerNoop, RunnerHealth.layerNoop)),
          Layer.provide(MessageStorage.layerNoop),
          Layer.provide(locks(prefix, () => isEnding)),
          Layer.provide(config(self))
        )
      )
    )
    return Layer.effect(
      Placement,
      Effect.gen(function* () {
        const { registerSingleton } = yield* Sharding.Sharding
        // This runs before the engine ends, because it was added later.
        yield* Effect.addFinalizer(() => Effect.sync(() => void (isEnding = true)))
        return {
          place: <R>(name: string, run: Effect.Effect<never, never, R>) => registerSingleton(name, run)
        }
      })
    ).pipe(
      Layer.provide(engine),
      // Silence the engine's log, which is about shards. The daemon itself reports what happens to an account.
      Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")),
      (layer) => Layer.effectContext(Effect.mapError(Layer.build(layer), fromSqlError))
    )
  }
}
