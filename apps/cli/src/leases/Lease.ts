/**
 * A lease: the record that `berth run` keeps of its node from before the node is created until it is deleted. Pure: who holds it, and
 * whether its node is to go.
 */
import type { Self } from "@berthkit/core/client/creation/KeyLock"
import { millisBetween, type Stamp } from "@berthkit/core/client/files/Boot"
import { Schema } from "effect"

/** Nodes are billed by the hour, from their creation on. */
const hourMillis = 3_600_000

const Stamped = Schema.Struct({
  wallMillis: Schema.Number,
  bootMillis: Schema.Number,
  bootClock: Schema.NullOr(Schema.String)
})

export const Lease = Schema.Struct({
  version: Schema.Literal(1),
  /** Of the create, and of the record. */
  key: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/)),
  name: Schema.String,
  plan: Schema.String,
  image: Schema.String,
  /** Digest of all that was asked for besides the name: a kept node serves the same order alone. */
  order: Schema.String,
  /** The process of `berth run`. */
  owner: Schema.Struct({
    machine: Schema.String,
    namespace: Schema.String,
    pid: Schema.Int,
    startTime: Schema.String
  }),
  /** Before the create was sent: the hours that are billed begin later. */
  begunAt: Stamped,
  /** When its owner took it. */
  takenAt: Stamped,
  ttlMillis: Schema.Number,
  /** Since when the node is kept for the next run, with `--reuse`; null while it is held. */
  keptSince: Schema.NullOr(Stamped),
  /** What proves the node; null until it is known. */
  node: Schema.NullOr(
    Schema.Struct({ id: Schema.Int, name: Schema.String, createdMillis: Schema.NullOr(Schema.Number) })
  ),
  /** What the node costs, as it was shown before the create. */
  price: Schema.optional(
    Schema.Struct({ perHourInr: Schema.NullOr(Schema.Number), minimumInr: Schema.NullOr(Schema.Number) })
  ),
  /** Nodes that may be the lease's; one of them is. If one is gone, that does not prove that another is ours. */
  candidates: Schema.optional(Schema.Array(Schema.Int))
})
export interface Lease extends Schema.Schema.Type<typeof Lease> {}

/** A lease that its owner takes now, before its node is created. */
export const newLease = (
  order: Pick<Lease, "key" | "name" | "plan" | "image" | "order" | "ttlMillis" | "price">,
  owner: Self,
  now: Stamp
): Lease => ({
  version: 1,
  ...order,
  owner,
  begunAt: now,
  takenAt: now,
  keptSince: null,
  node: null
})

/** Whether the same process holds two leases. */
export const isSameOwner = (a: Lease["owner"], b: Lease["owner"]): boolean =>
  a.machine === b.machine && a.namespace === b.namespace && a.pid === b.pid && a.startTime === b.startTime

/** The lease of a kept node, taken for another run. */
export const takenOver = (lease: Lease, ttlMillis: number, owner: Self, now: Stamp): Lease => ({
  ...lease,
  owner,
  takenAt: now,
  ttlMillis,
  keptSince: null
})

/** The lease of a node that nobody uses until its hour is over. */
export const kept = (lease: Lease, now: Stamp): Lease => ({ ...lease, keptSince: now })

/** How long is left of the hour that is paid for; negative once it is over. Of a kept node that is the hour in which it was let go. */
export const paidMillisLeft = ({ begunAt, keptSince }: Lease, now: Stamp): number => {
  const usedMillis = Math.max(1, millisBetween(begunAt, keptSince ?? now))
  return Math.ceil(usedMillis / hourMillis) * hourMillis - millisBetween(begunAt, now)
}

/** What is charged for the node so far: whole hours, and at least the minimum charge. Undefined if the price is unknown. */
export const chargedSoFar = (
  { begunAt, keptSince, price }: Lease,
  now: Stamp
): { readonly amountInr: number; readonly isMinimum: boolean } | undefined => {
  const { minimumInr = null, perHourInr = null } = price ?? {}
  if (perHourInr === null) return undefined
  const hours = Math.ceil(Math.max(1, millisBetween(begunAt, keptSince ?? now)) / hourMillis)
  const isMinimum = (minimumInr ?? 0) > hours * perHourInr
  return { amountInr: isMinimum ? minimumInr! : hours * perHourInr, isMinimum }
}

/** How long its owner may still hold it; negative once its time is over. */
export const heldMillisLeft = ({ takenAt, ttlMillis }: Lease, now: Stamp): number =>
  ttlMillis - millisBetween(takenAt, now)

/** What is to become of a leased node. */
export type Standing =
  /** Its owner lives, or may live, and its time is not over. */
  | "held"
  /** It waits for the next run, and its hour is paid for. */
  | "kept"
  /** It is to be deleted. */
  | "due"

/**
 * Judges a lease. `isOwnerAlive` is undefined where the owner is of another machine or container: only its time ends it then. A kept node
 * whose hour ends within `withinMillis` is due already.
 */
export const standingOf = (lease: Lease, isOwnerAlive: boolean | undefined, now: Stamp, withinMillis = 0): Standing => {
  if (lease.keptSince !== null) return paidMillisLeft(lease, now) <= withinMillis ? "due" : "kept"
  return isOwnerAlive === false || heldMillisLeft(lease, now) <= 0 ? "due" : "held"
}
