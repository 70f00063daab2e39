/**
 * The leases of nodes, as programs on this machine leave them in the account's state folder: `leases/`, a file for each, which says
 * `{ "version": 1, "nodeId": 17, "expiresAt": 1700000000000 }`. The daemon reads them and never writes one; what cannot be read as
 * this is no lease. Where the folder is another machine's there are none.
 */
import { dirname } from "node:path"
import { readText, withFiles } from "@berthkit/core/client/files/StateFiles"
import { Effect, Option, Schedule, Schema } from "effect"

const Lease = Schema.fromJsonString(
  Schema.Struct({ version: Schema.Literal(1), nodeId: Schema.Int, expiresAt: Schema.Int })
)
const decode = Schema.decodeUnknownOption(Lease)

/** When the leases of nodes end, in milliseconds since the epoch, by id. */
type Leases = ReadonlyMap<number, number>

/** More files are not read. */
const maxLeases = 10_000

const readEvery = "15 seconds"

/** Of several leases of a node the last one counts. */
export const readLeases = Effect.fn("readLeases")(function* (folder: string) {
  const names = yield* withFiles((fs) => fs.readdir(folder)).pipe(Effect.orElseSucceed((): ReadonlyArray<string> => []))
  const leases = new Map<number, number>()
  for (const name of names.filter((name) => name.endsWith(".json")).slice(0, maxLeases)) {
    const text = yield* Effect.orElseSucceed(readText(`${folder}/${name}`), Option.none)
    const lease = Option.flatMap(text, decode)
    if (Option.isNone(lease)) continue
    const { expiresAt, nodeId } = lease.value
    leases.set(nodeId, Math.max(expiresAt, leases.get(nodeId) ?? 0))
  }
  return leases as Leases
})

/**
 * Reads the leases of an account now and then, until the scope closes; gives where the newest are. They are beside the file of its
 * commitments.
 */
export const followLeases = Effect.fnUntraced(function* (commitments: string | undefined) {
  const holder: { current: Leases } = { current: new Map() }
  if (commitments === undefined) return holder
  const read = Effect.map(readLeases(`${dirname(commitments)}/leases`), (leases) => void (holder.current = leases))
  yield* Effect.forkScoped(Effect.repeat(read, Schedule.spaced(readEvery)))
  return holder
})
