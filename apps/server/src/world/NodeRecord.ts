/**
 * The record a world keeps of a node. It is small on purpose, because there may be a million of them: addresses and the
 * microseconds of `created_at` follow from seed and id, the status from the lifecycle. Instants are milliseconds since the
 * epoch.
 */
import type { Commitment } from "../lifecycle/CommitmentTerm.ts"
import type { LivingNode } from "../lifecycle/NodeLife.ts"
import type { Plan } from "./catalogue.ts"
import { derive } from "../lifecycle/seed.ts"

export interface NodeRecord extends LivingNode {
  readonly id: number
  readonly name: string
  readonly plan: Plan
  /** Id of the public or saved image it was made from. */
  readonly imageId: number
  readonly createdAt: number
  readonly deletedAt: number | null
  readonly commitment: Commitment | null
  readonly backups: boolean
  /** A locked node refuses user actions (interface.md §2.4). Nothing in the interface locks one. */
  readonly locked: boolean
}

const use = { microseconds: 21, publicOffset: 22, privateOffset: 23 } as const

/** The last three of the six digits after the second (A13), 0 to 999. */
export const createdMicroseconds = (seed: number, id: number): number => derive(seed, use.microseconds, id) % 1000

const octets = Array.from({ length: 256 }, (_, value) => String(value))

const dotted = (address: number): string =>
  `${octets[address >>> 24]}.${octets[(address >>> 16) & 255]}.${octets[(address >>> 8) & 255]}.${octets[address & 255]}`

/**
 * Spreads the ids over 2^bits addresses so that neighbours do not resemble neighbours and no two of any 2^bits
 * consecutive ids are the same: an odd factor makes it a permutation.
 */
const spread = (seed: number, label: number, id: number, bits: number): number =>
  (Math.imul(id, 0x9e3779b1) + derive(seed, label)) & (2 ** bits - 1)

/** From 100.64.0.0/10, which no router of the internet forwards: 4 194 304 different ones. */
export const publicAddress = (seed: number, id: number): string =>
  dotted((100 << 24) | (64 << 16) | spread(seed, use.publicOffset, id, 22))

/** From 10.0.0.0/8: 16 777 216 different ones. */
export const privateAddress = (seed: number, id: number): string =>
  dotted((10 << 24) | spread(seed, use.privateOffset, id, 24))
