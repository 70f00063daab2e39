/**
 * When the leases of nodes end, as `berth run` keeps them on this machine: a file each in `leases/` of the account's state folder. The
 * daemon reads them and never writes one; what cannot be read as a lease is none.
 */
import { dirname } from "node:path"
import { readText, withFiles } from "@berthkit/core/client/files/StateFiles"
import { Effect, Option, Schedule, Schema } from "effect"

const Instant = Schema.Struct({ wallMillis: Schema.Number })

const Lease = Schema.fromJsonString(
  Schema.Struct({
    version: Schema.Literal(1),
    node: Schema.NullOr(Schema.Struct({ id: Schema.Int })),
    begunAt: Instant,
    takenAt: Instant,
    ttlMillis: Schema.Number,
    keptSince: Schema.NullOr(Instant)
  })
)
const decode = Schema.decodeUnknownOption(Lease)

/** Nodes are billed by the hour. */
const hourMillis = 3_600_000

/** A node that is kept for the next run has until the end of the hour that is paid for. */
const endOf = ({ begunAt, keptSince, takenAt, ttlMillis }: typeof Lease.Type): number => {
  if (keptSince === null) return takenAt.wallMillis + ttlMillis
  const hours = Math.ceil(Math.max(1, keptSince.wallMillis - begunAt.wallMillis) / hourMillis)
  return begunAt.wallMillis + hours * hourMillis
}

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
    if (Option.isNone(lease) || lease.value.node === null) continue
    const { id } = lease.value.node
    leases.set(id, Math.max(endOf(lease.value), leases.get(id) ?? 0))
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
