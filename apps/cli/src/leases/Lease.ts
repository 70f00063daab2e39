/**
 * A lease: the record that `berth run` keeps of its node from before the node is created until it is deleted. This module is pure. It
 * says who holds the lease, and whether its node should be deleted.
 */
import type { Self } from "@berthkit/core/client/creation/KeyLock"
import { minMillisBetween, millisBetween, type Stamp } from "@berthkit/core/client/files/Stamp"
import { Schema } from "effect"

/** Nodes are billed per started hour from their creation. */
const hourMillis = 3_600_000

const Stamped = Schema.Struct({
  wallMillis: Schema.Number,
  bootMillis: Schema.Number,
  bootClock: Schema.NullOr(Schema.String)
})

export const Lease = Schema.Struct({
  version: Schema.Literal(1),
  /** The idempotency key of the create, and the key of the record. */
  key: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/)),
  name: Schema.String,
  plan: Schema.String,
  image: Schema.String,
  /**
   * Whether the name contains a random word that berth chose for this node. Nobody else knew the word before the create
   * was sent, so a node with this word in its name belongs to this lease, even without a date.
   */
  isNameDrawn: Schema.optional(Schema.Boolean),
  /** Digest of the order without the name. A run reuses a kept node only if it has the same order. */
  order: Schema.String,
  /** The process of `berth run`. */
  owner: Schema.Struct({
    machine: Schema.String,
    namespace: Schema.String,
    pid: Schema.Int,
    startTime: Schema.String
  }),
  /** When the lease was begun, before the create was sent. The billed hours therefore begin later. */
  begunAt: Stamped,
  /** When the present owner took the lease. */
  takenAt: Stamped,
  ttlMillis: Schema.Number,
  /** When the node was kept for the next run with `--reuse`; null while it is held. */
  keptSince: Schema.NullOr(Stamped),
  /**
   * Set before a delete of the kept node is sent. From then on no run may take the node, because the service may still
   * carry out the delete.
   */
  isEnding: Schema.optional(Schema.Boolean),
  /** Identifies the node; null until it is known. */
  node: Schema.NullOr(
    Schema.Struct({ id: Schema.Int, name: Schema.String, createdMillis: Schema.NullOr(Schema.Number) })
  ),
  /** The price that was shown before the create. */
  price: Schema.optional(
    Schema.Struct({ perHourInr: Schema.NullOr(Schema.Number), minimumInr: Schema.NullOr(Schema.Number) })
  ),
  /**
   * Several nodes, one of which belongs to the lease. If one of them is gone, nothing proves that another belongs to
   * the lease.
   */
  candidates: Schema.optional(Schema.Array(Schema.Int))
})
export interface Lease extends Schema.Schema.Type<typeof Lease> {}

/** A new lease, taken before its node is created. */
export const newLease = (
  order: Pick<Lease, "key" | "name" | "plan" | "image" | "isNameDrawn" | "order" | "ttlMillis" | "price">,
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

/** Whether two leases have the same owner, which is a process. */
export const isSameOwner = (a: Lease["owner"], b: Lease["owner"]): boolean =>
  a.machine === b.machine && a.namespace === b.namespace && a.pid === b.pid && a.startTime === b.startTime

/** The lease of a kept node, taken over by another run. */
export const takenOver = (lease: Lease, ttlMillis: number, owner: Self, now: Stamp): Lease => ({
  ...lease,
  owner,
  takenAt: now,
  ttlMillis,
  keptSince: null
})

/** The lease of a node that nobody uses until its hour ends. */
export const kept = (lease: Lease, now: Stamp): Lease => ({ ...lease, keptSince: now })

/** The time left in the paid hour; negative after it. For a kept node this is the hour in which it was released. */
export const paidMillisLeft = ({ begunAt, keptSince }: Lease, now: Stamp): number => {
  const usedMillis = Math.max(1, millisBetween(begunAt, keptSince ?? now))
  return Math.ceil(usedMillis / hourMillis) * hourMillis - millisBetween(begunAt, now)
}

/** The charge for the node so far: whole hours, and at least the minimum charge. Undefined if the price is unknown. */
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

/** How long the owner may still hold the lease, by the owner's clock; negative after that time. */
export const heldMillisLeft = ({ takenAt, ttlMillis }: Lease, now: Stamp): number =>
  ttlMillis - millisBetween(takenAt, now)

/** What should happen to a leased node. */
export type Standing =
  /** The owner is or may be alive, and the time of the lease is not over. */
  | "held"
  /** The node waits for the next run within its paid hour. */
  | "kept"
  /** The node should be deleted. */
  | "due"

/**
 * Judges a lease. `isOwnerAlive` is undefined if the owner is on another machine or in another container. Then only the
 * time limit ends the lease, with a margin because the clocks of two machines differ. A kept node whose hour ends
 * within `withinMillis` is already due.
 */
export const standingOf = (lease: Lease, isOwnerAlive: boolean | undefined, now: Stamp, withinMillis = 0): Standing => {
  if (lease.keptSince !== null) {
    return lease.isEnding === true || paidMillisLeft(lease, now) <= withinMillis ? "due" : "kept"
  }
  return isOwnerAlive === false || minMillisBetween(lease.takenAt, now) >= lease.ttlMillis ? "due" : "held"
}
