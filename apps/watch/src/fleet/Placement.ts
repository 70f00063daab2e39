/**
 * Decides which of several daemon processes runs what, with Effect Cluster (the "engine") over their shared store. Each placed
 * part is a singleton: the engine runs it in one process at a time as far as it knows, and the store's epochs exclude the
 * remaining overlaps.
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
    // Nothing is sent to this address: it is only a name in a table.
    runnerAddress: Option.some(RunnerAddress.make(self, 0)),
    // Two versions of the program that run at once must agree on this number, even if the engine's default changes.
    shardsPerGroup: 300,
    shardLockExpiration: `${processExpirySeconds} seconds`,
    shardLockRefreshInterval: "1 second",
    refreshAssignmentsInterval: "1 second",
    runnerJoinDebounce: "1 second",
    entityTerminationTimeout: "2 seconds"
  })

/** Creates the engine's tables, for processes that lack the rights to do so. `prefix`: see `Placement.layer`. */
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
    /** Runs an effect in one of the processes for as long as the scope is open there, then in another one. */
    readonly place: <R>(
      name: string,
      run: Effect.Effect<never, never, R>
    ) => Effect.Effect<void, never, R | Scope.Scope>
  }
>()("@berthkit/watch/fleet/Placement") {
  /** `prefix`: of the engine's tables and locks; two groups of processes in one database use different ones. */
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
      // The engine logs about shards; the daemon itself reports what that means for an account.
      Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")),
      (layer) => Layer.effectContext(Effect.mapError(Layer.build(layer), fromSqlError))
    )
  }
}
