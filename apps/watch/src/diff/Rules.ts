/**
 * How careful the daemon is before it believes what it sees.
 */

import { defaultGraceMillis, defaultHoldMillis, terminatingGraceMillis } from "@berthkit/core/domain/Absence"
import type { Passing } from "./NodeState.ts"

export interface Rules {
  /** How long a node that was not seen terminating has to answer 404 before it is gone. */
  readonly graceMillis: number
  /** The same for a node that was seen terminating. */
  readonly terminatingGraceMillis: number
  /** How long a suspiciously short list must persist before it is believed. */
  readonly holdMillis: number
  /** From the start of one sweep to the start of the next, as planned. */
  readonly sweepMillis: number
  /** How long a node is in transition at least before it is stuck, however fast such nodes are. */
  readonly minStuckMillis: number
  /** How long a node may be in transition before it is stuck, by its status. */
  readonly stuckMillis: Readonly<Record<Passing, number>>
}

/** A late report of a node that vanished harms less than a false report of a deletion. */
export const defaultRules: Rules = {
  graceMillis: defaultGraceMillis,
  terminatingGraceMillis,
  holdMillis: defaultHoldMillis,
  sweepMillis: 30_000,
  minStuckMillis: 60_000,
  stuckMillis: { creating: 1_800_000, created: 1_800_000, terminate: 1_800_000 }
}
