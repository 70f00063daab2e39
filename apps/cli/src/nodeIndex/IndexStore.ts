/**
 * Keeps the node index of an account in the user's cache folder: a file of its own for each key, read once by a command and
 * replaced as a whole. Safe to lose: where it cannot be read the index is empty, and where it cannot be written it stays old.
 */
import { makeOwnFolder, readText, replaceFile } from "@berth/core/client/files/StateFiles"
import { Context, Effect, Layer, Option } from "effect"
import * as NodeIndex from "./NodeIndex.ts"

/** About 100 000 nodes. The index of a larger account is not kept. */
const maxFileBytes = 16 * 1024 * 1024

/** Of the path `accounts/HASH` all is made by Berth, for the user alone. */
const ownLevels = 2

export class IndexStore extends Context.Service<
  IndexStore,
  {
    /** The index as this command last read or saved it. */
    readonly load: Effect.Effect<NodeIndex.NodeIndex>
    readonly save: (index: NodeIndex.NodeIndex) => Effect.Effect<void>
  }
>()("@berth/cli/nodeIndex/IndexStore") {
  /** The store in a folder; without one each command has an empty index of its own. */
  static readonly layer = (folder: Option.Option<string>) => Layer.sync(IndexStore, () => make(folder))
}

/** The name of the file in the account's folder of the cache. */
const indexFile = "nodes.json"

const make = (folder: Option.Option<string>): IndexStore["Service"] => {
  let loaded: NodeIndex.NodeIndex | undefined
  const path = Option.map(folder, (each) => `${each}/${indexFile}`)
  const read = Option.match(path, {
    onNone: () => Effect.succeed(NodeIndex.empty),
    onSome: (path) =>
      readText(path, maxFileBytes).pipe(
        Effect.map((text) => Option.getOrElse(Option.flatMap(text, NodeIndex.decode), () => NodeIndex.empty)),
        Effect.orElseSucceed(() => NodeIndex.empty)
      )
  })
  return {
    load: Effect.suspend(() =>
      loaded === undefined ? Effect.map(read, (index) => (loaded = index)) : Effect.succeed(loaded)
    ),
    save: (index) =>
      Effect.suspend(() => {
        if (index === loaded) return Effect.void
        loaded = index
        if (Option.isNone(folder) || Option.isNone(path)) return Effect.void
        const text = NodeIndex.encode(index)
        if (text.length > maxFileBytes) return Effect.void
        return Effect.ignore(Effect.andThen(makeOwnFolder(folder.value, ownLevels), replaceFile(path.value, text)))
      })
  }
}
