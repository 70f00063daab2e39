/** Caches the nodes of an inventory in the account's cache folder, because playbooks read the inventory often. Safe to lose. */
import { readText } from "@berthkit/core/client/files/StateFiles"
import { Clock, Effect, Option, Schema } from "effect"
import { writeAccountFile } from "../files/ownFiles.ts"
import { Host } from "./Host.ts"

/** Maximum size of the cache file, enough for about 50 000 nodes. A larger account is not cached. */
const maxFileBytes = 16 * 1024 * 1024

const File = Schema.fromJsonString(
  Schema.Struct({ version: Schema.Literal(1), readMillis: Schema.Number, hosts: Schema.Array(Host) })
)
const decode = Schema.decodeUnknownOption(File)

const pathIn = (folder: string) => `${folder}/inventory.json`

/** The cached nodes if they are fresh enough; otherwise none. */
export const loadHosts = Effect.fnUntraced(function* (folder: string, maxAgeMillis: number) {
  if (maxAgeMillis <= 0) return Option.none()
  const text = yield* Effect.orElseSucceed(readText(pathIn(folder), maxFileBytes), () => Option.none<string>())
  const now = yield* Clock.currentTimeMillis
  return Option.flatMap(text, decode).pipe(
    // A file with a time in the future was written before the clock was set back.
    Option.filter(({ readMillis }) => readMillis <= now && now - readMillis <= maxAgeMillis),
    Option.map(({ hosts }) => hosts)
  )
})

/** Writes the nodes with the time at which they were read. A failure is ignored: the nodes are read again next time. */
export const saveHosts = (folder: string, hosts: ReadonlyArray<Host>, readMillis: number): Effect.Effect<void> => {
  const text = JSON.stringify({ version: 1, readMillis, hosts })
  return text.length > maxFileBytes ? Effect.void : Effect.ignore(writeAccountFile(pathIn(folder), text))
}
