/**
 * Reads when the leases of nodes end. `berth run` stores the leases on this machine. The daemon never writes a lease, and
 * ignores entries that are not leases.
 */
import type { IntentPlace } from "@berthkit/core/client/creation/IntentPlace"
import { recordsOf } from "@berthkit/core/client/RecordFolder"
import type { RecordStore } from "@berthkit/core/client/state/RecordStore"
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

/** When a lease ends. A node that is kept for the next run stays until the end of its paid hour. */
const endOf = ({ begunAt, keptSince, takenAt, ttlMillis }: typeof Lease.Type): number => {
  if (keptSince === null) return takenAt.wallMillis + ttlMillis
  const hours = Math.ceil(Math.max(1, keptSince.wallMillis - begunAt.wallMillis) / hourMillis)
  return begunAt.wallMillis + hours * hourMillis
}

/** When the leases of nodes end, in milliseconds since the epoch, by node id. */
type Leases = ReadonlyMap<number, number>

const readEvery = "15 seconds"

/** If a node has several leases, the last one counts. */
export const readLeases = Effect.fn("readLeases")(function* ({ list }: Pick<RecordStore, "list">) {
  const leases = new Map<number, number>()
  for (const { value } of yield* Effect.orElseSucceed(list("lease"), () => [])) {
    const lease = decode(value)
    if (Option.isNone(lease) || lease.value.node === null) continue
    const { id } = lease.value.node
    leases.set(id, Math.max(endOf(lease.value), leases.get(id) ?? 0))
  }
  return leases as Leases
})

/** Reads the leases of an account periodically until the scope closes; returns access to the newest. */
export const followLeases = Effect.fnUntraced(function* (place: IntentPlace | undefined) {
  const holder: { current: Leases } = { current: new Map() }
  if (place === undefined) return holder
  const read = Effect.map(readLeases(recordsOf(place)), (leases) => void (holder.current = leases))
  yield* Effect.forkScoped(Effect.repeat(read, Schedule.spaced(readEvery)))
  return holder
})
