/**
 * Keeps the node index of an account in the user's cache folder: a file of its own for each key, read once by a command and
 * replaced as a whole. Safe to lose: where it cannot be read the index is empty, and where it cannot be written it stays old.
 */
import { readText, withFiles } from "@berthkit/core/client/files/StateFiles"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { writeAccountFile } from "../files/ownFiles.ts"
import * as NodeIndex from "./NodeIndex.ts"

/** About 100 000 nodes. The index of a larger account is not kept. */
const maxFileBytes = 16 * 1024 * 1024

const freshMillis = 3_600_000

export class IndexStore extends Context.Service<IndexStore, ReturnType<typeof make>>()(
  "@berthkit/cli/nodeIndex/IndexStore"
) {
  /** The store in a folder. */
  static readonly layer = (folder: Option.Option<string>) => Layer.sync(IndexStore, () => make(folder))
}

/** The name of the file in the account's folder of the cache. */
const indexFile = "nodes.json"

const make = (folder: Option.Option<string>) => {
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
  const write = (text: string) =>
    Option.isNone(path) || text.length > maxFileBytes ? Effect.void : Effect.ignore(writeAccountFile(path.value, text))
  return {
    /** Whether there is a place to keep it. Without one, each command has an index of its own. */
    isKept: Option.isSome(folder),
    /** Whether it was written within the last hour. */
    isFresh: Option.match(path, {
      onNone: () => Effect.succeed(false),
      onSome: (path) =>
        Effect.zipWith(
          withFiles((fs) => fs.stat(path)),
          Clock.currentTimeMillis,
          ({ mtimeMs }, now) => {
            const age = now - mtimeMs
            return age >= 0 && age < freshMillis
          }
        ).pipe(Effect.orElseSucceed(() => false))
    }),
    /** The index as this command last read or saved it. */
    load: Effect.suspend(() =>
      loaded === undefined ? Effect.map(read, (index) => (loaded = index)) : Effect.succeed(loaded)
    ),
    save: (index: NodeIndex.NodeIndex) =>
      Effect.suspend(() => {
        if (index === loaded) return Effect.void
        loaded = index
        return Option.isNone(path) ? Effect.void : write(NodeIndex.encode(index))
      }),
    /** Replaces it by the text of an index. */
    saveText: (text: string) =>
      Effect.suspend(() => {
        loaded = undefined
        return write(text)
      })
  }
}
