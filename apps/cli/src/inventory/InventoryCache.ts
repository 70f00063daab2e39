/**
 * Keeps the nodes that an inventory was made of, in the account's folder of the cache: a playbook asks often. Safe to lose.
 */
import { makeOwnFolder, readText, replaceFile } from "@berthkit/core/client/files/StateFiles"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { Host } from "./Host.ts"

/** About 50 000 nodes. A larger account is read each time. */
const maxFileBytes = 16 * 1024 * 1024

/** Of the path `accounts/HASH` all is made by Berth, for the user alone. */
const ownLevels = 2

const File = Schema.fromJsonString(
  Schema.Struct({ version: Schema.Literal(1), readMillis: Schema.Number, hosts: Schema.Array(Host) })
)
const decode = Schema.decodeUnknownOption(File)

export class InventoryCache extends Context.Service<
  InventoryCache,
  {
    /** The nodes as they were read at most so long ago; none where that is not known. */
    readonly load: (maxAgeMillis: number) => Effect.Effect<Option.Option<ReadonlyArray<Host>>>
    /** Keeps nodes that were read at an instant. Where they cannot be kept they are read anew. */
    readonly save: (hosts: ReadonlyArray<Host>, readMillis: number) => Effect.Effect<void>
  }
>()("@berthkit/cli/inventory/InventoryCache") {
  /** The cache in a folder; without one nothing is kept. */
  static readonly layer = (folder: Option.Option<string>) => Layer.sync(InventoryCache, () => make(folder))
}

const make = (folder: Option.Option<string>): InventoryCache["Service"] => {
  if (Option.isNone(folder)) return { load: () => Effect.succeedNone, save: () => Effect.void }
  const path = `${folder.value}/inventory.json`
  return {
    load: Effect.fnUntraced(function* (maxAgeMillis) {
      if (maxAgeMillis <= 0) return Option.none()
      const text = yield* Effect.orElseSucceed(readText(path, maxFileBytes), () => Option.none<string>())
      const now = yield* Clock.currentTimeMillis
      return Option.flatMap(text, decode).pipe(
        // A file of the future was written before the clock was put back.
        Option.filter(({ readMillis }) => readMillis <= now && now - readMillis <= maxAgeMillis),
        Option.map(({ hosts }) => hosts)
      )
    }),
    save: (hosts, readMillis) => {
      const text = JSON.stringify({ version: 1, readMillis, hosts })
      return text.length > maxFileBytes
        ? Effect.void
        : Effect.ignore(Effect.andThen(makeOwnFolder(folder.value, ownLevels), replaceFile(path, text)))
    }
  }
}
