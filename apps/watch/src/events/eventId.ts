/**
 * The id of an event: a hash of what it is about and of nothing else, so that it is the same whenever and by whomever
 * it is told.
 */
import { createHash } from "node:crypto"

/** What an event is about. */
export interface Identity {
  readonly account: string
  /** Null for what concerns the account as a whole. */
  readonly nodeId: number | null
  /** Tells two nodes of one id apart; null for what concerns the account as a whole. */
  readonly incarnation: number | null
  readonly kind: string
  /** Tells two events of one kind apart. */
  readonly version: number | string
}

/** 128 bits in hexadecimal digits. */
export const eventId = ({ account, incarnation, kind, nodeId, version }: Identity): string =>
  createHash("sha256")
    .update(JSON.stringify([account, nodeId, incarnation, kind, version]))
    .digest("hex")
    .slice(0, 32)
