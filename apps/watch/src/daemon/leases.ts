/**
 * Reads when the leases of nodes end. `berth run` stores the leases in the state folder, or in the database that several machines
 * share. The daemon never writes a lease, and ignores entries that are not leases.
 */
import { bootClock } from "@berthkit/core/client/files/Boot"
import { maxStepMillis } from "@berthkit/core/client/files/Stamp"
import type { RecordStore } from "@berthkit/core/client/state/RecordStore"
import { Effect, Option, Schedule, Schema } from "effect"
import type { AlertRules, NodeLease } from "../spend/alerts.ts"

const Instant = Schema.Struct({ wallMillis: Schema.Number, bootClock: Schema.NullOr(Schema.String) })

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

/**
 * When a lease ends. A node that is kept for the next run stays until the end of its paid hour. If the clock of another
 * machine is behind, a command there may run longer by as much (decision 0332).
 */
const leaseOf = ({ begunAt, keptSince, takenAt, ttlMillis }: typeof Lease.Type, clock: string | null): NodeLease => {
  if (keptSince !== null) {
    const hours = Math.ceil(Math.max(1, keptSince.wallMillis - begunAt.wallMillis) / hourMillis)
    return { endMillis: begunAt.wallMillis + hours * hourMillis, toleranceMillis: 0 }
  }
  const isOfThisBoot = clock !== null && takenAt.bootClock === clock
  return { endMillis: takenAt.wallMillis + ttlMillis, toleranceMillis: isOfThisBoot ? 0 : maxStepMillis }
}

type Leases = AlertRules["leases"]

const readEvery = "15 seconds"

/** If a node has several leases, the one that ends last counts. */
export const readLeases = Effect.fn("readLeases")(function* (
  { list }: Pick<RecordStore, "list">,
  clock: string | null
) {
  const leases = new Map<number, NodeLease>()
  for (const { value } of yield* list("lease")) {
    const lease = decode(value)
    if (Option.isNone(lease) || lease.value.node === null) continue
    const { id } = lease.value.node
    const found = leaseOf(lease.value, clock)
    const known = leases.get(id)
    if (known === undefined || known.endMillis < found.endMillis) leases.set(id, found)
  }
  return leases as Leases
})

/**
 * Reads the leases of an account periodically until the scope closes; returns access to the newest. If the leases cannot be read, the
 * ones read before stay.
 */
export const followLeases = Effect.fnUntraced(function* (records: Pick<RecordStore, "list"> | undefined) {
  const holder: { current: Leases } = { current: new Map() }
  if (records === undefined) return holder
  const read = Effect.map(readLeases(records, yield* bootClock), (leases) => void (holder.current = leases))
  yield* Effect.forkScoped(Effect.repeat(Effect.ignore(read), Schedule.spaced(readEvery)))
  return holder
})
