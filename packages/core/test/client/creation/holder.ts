/**
 * A process that holds the lock of a key: `holder.ts KEY folder PATH`, or `holder.ts KEY sql URL SCHEMA LEASE`. It saves an intent under the
 * key and one without, prints `held`, and waits for a line. Then it writes under its lock, prints `written` or `refused: WHY`, and `ended`.
 * If the line is `node ID`, it writes that its request made this node, as a process does that gets the reply; otherwise it only writes that
 * the reply was lost.
 */
import { createInterface } from "node:readline"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Console, Effect, Layer, Redacted } from "effect"
import { IntentStore } from "../../../src/client/creation/IntentStore.ts"
import { layerDirectory } from "../../../src/client/creation/IntentFolder.ts"
import { makeIntents } from "../../../src/client/state/IntentSql.ts"
import { open } from "../../../src/client/state/StateSql.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { intent } from "./intent.ts"

const [key, kind, place, schema, leaseMillis] = process.argv.slice(2) as [string, string, string, string, string]

const layer: Layer.Layer<never, unknown> =
  kind === "folder"
    ? layerDirectory(place)
    : Layer.effect(
        IntentStore,
        Effect.map(open({ schema, leaseMillis: Number(leaseMillis) }), (database) =>
          makeIntents(database, { id: "account", key: undefined, nodes: "nodes" })
        )
      ).pipe(Layer.provide(PgClient.layer({ url: Redacted.make(place), prepare: false })))

const line = Effect.promise(
  () => new Promise<string>((resolve) => createInterface(process.stdin).once("line", resolve))
)

const hold = Effect.gen(function* () {
  const store = (yield* IntentStore)!
  yield* store.save(intent(`_of ${key}`))
  yield* store.withKeyLock(key)(({ confirm }) =>
    Effect.gen(function* () {
      yield* store.save(intent(key))
      yield* Console.log("held")
      const id = /^node (\d+)$/.exec(yield* line)?.[1]
      const written = yield* Effect.result(
        id === undefined
          ? Effect.andThen(confirm, store.save(intent(key, { fate: "lost" })))
          : store.save(intent(key, { nodeId: NodeId.make(Number(id)) }))
      )
      yield* Console.log(written._tag === "Success" ? "written" : `refused: ${written.failure.detail}`)
    })
  )
  yield* Console.log("ended")
})

await Effect.runPromise(Effect.provide(hold, layer))
process.exit()
