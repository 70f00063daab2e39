/**
 * Keeps the nodes that an inventory was made of, in the account's folder of the cache: a playbook asks often. Safe to lose.
 */
import { readText } from "@berthkit/core/client/files/StateFiles"
import { Clock, Effect, Option, Schema } from "effect"
import { writeAccountFile } from "../files/ownFiles.ts"
import { Host } from "./Host.ts"

/** About 50 000 nodes. A larger account is read each time. */
const maxFileBytes = 16 * 1024 * 1024

const File = Schema.fromJsonString(
  Schema.Struct({ version: Schema.Literal(1), readMillis: Schema.Number, hosts: Schema.Array(Host) })
)
const decode = Schema.decodeUnknownOption(File)

const pathIn = (folder: string) => `${folder}/inventory.json`

/** The nodes as they were read at most so long ago; none where that is not known. */
export const loadHosts = Effect.fnUntraced(function* (folder: string, maxAgeMillis: number) {
  if (maxAgeMillis <= 0) return Option.none()
  const text = yield* Effect.orElseSucceed(readText(pathIn(folder), maxFileBytes), () => Option.none<string>())
  const now = yield* Clock.currentTimeMillis
  return Option.flatMap(text, decode).pipe(
    // A file of the future was written before the clock was put back.
    Option.filter(({ readMillis }) => readMillis <= now && now - readMillis <= maxAgeMillis),
    Option.map(({ hosts }) => hosts)
  )
})

/** Keeps nodes that were read at an instant. Where they cannot be kept they are read anew. */
export const saveHosts = (folder: string, hosts: ReadonlyArray<Host>, readMillis: number): Effect.Effect<void> => {
  const text = JSON.stringify({ version: 1, readMillis, hosts })
  return text.length > maxFileBytes ? Effect.void : Effect.ignore(writeAccountFile(pathIn(folder), text))
}
