/**
 * Which of several processes runs what: Effect Cluster decides it, over the store that they share. What is placed is a singleton, which
 * runs in one process at a time as far as the engine knows; the epochs of the store see to the rest.
 */
import { Context, Effect, Layer, Option, Predicate, References, type Scope } from "effect"
import {
  MessageStorage,
  RunnerAddress,
  RunnerHealth,
  Runners,
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
    // Nothing is sent to it: it is a name in a table.
    runnerAddress: Option.some(RunnerAddress.make(self, 0)),
    // Two versions of the program that run at once have to agree on it, whatever the engine's default becomes.
    shardsPerGroup: 300,
    shardLockExpiration: `${processExpirySeconds} seconds`,
    shardLockRefreshInterval: "1 second",
    refreshAssignmentsInterval: "1 second",
    runnerJoinDebounce: "1 second",
    entityTerminationTimeout: "2 seconds"
  })

/** Makes the engine's tables, as an administrator does it for a process that may make none. `prefix`: as of `Placement.layer`. */
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

export class Placement extends Context.Service<
  Placement,
  {
    /** Runs it in one of the processes, for as long as the scope is open there; again in another one when that ends. */
    readonly place: <R>(
      name: string,
      run: Effect.Effect<never, never, R>
    ) => Effect.Effect<void, never, R | Scope.Scope>
  }
>()("@berthkit/watch/fleet/Placement") {
  /** `prefix`: of the engine's tables and locks; two fleets in one database have each their own. */
  static readonly layer = (prefix: string): Layer.Layer<Placement, StoreFailed, SqlClient.SqlClient | SharedStore> => {
    const engine = Layer.unwrap(
      Effect.map(SharedStore, ({ self }) =>
        Sharding.layer.pipe(
          Layer.provide(Layer.mergeAll(Runners.layerNoop, RunnerHealth.layerNoop)),
          Layer.provide(MessageStorage.layerNoop),
          Layer.provide(SqlRunnerStorage.layerWith({ prefix })),
          Layer.provide(config(self))
        )
      )
    )
    return Layer.effect(
      Placement,
      Effect.map(Sharding.Sharding, ({ registerSingleton }) => ({
        place: <R>(name: string, run: Effect.Effect<never, never, R>) => registerSingleton(name, run)
      }))
    ).pipe(
      Layer.provide(engine),
      // It speaks of shards; what they mean for an account is said by the daemon.
      Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")),
      (layer) => Layer.effectContext(Effect.mapError(Layer.build(layer), fromSqlError))
    )
  }
}
