/**
 * Runs a command on a store in a file: beside a running daemon where it only reads, in its place where it changes something.
 */
import { Effect, type Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { type CommandFailed, fromStoreFailed } from "../process/CommandFailed.ts"
import { type StoreOptions, storePath } from "../settings/storePath.ts"
import { Store } from "../store/Store.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"

type Services = Store | SqlClient.SqlClient

const withLayer =
  (open: (path: string) => Layer.Layer<Services, StoreFailed>) =>
  <A, R>(options: StoreOptions, command: Effect.Effect<A, CommandFailed | StoreFailed, R>) =>
    Effect.flatMap(storePath(options), (path) => Effect.provide(command, open(path))).pipe(
      Effect.catchTag("StoreFailed", (error) => Effect.fail(fromStoreFailed(error))),
      Effect.scoped
    )

export const reading = withLayer(Store.layerReader)

export const changing = withLayer(Store.layerFile)
