/**
 * The record a world keeps of a node. It is small on purpose, because there may be a million of them: addresses and the
 * microseconds of `created_at` follow from seed and id, the status from the lifecycle. Instants are milliseconds since the
 * epoch.
 */
import type { LivingNode } from "../lifecycle/NodeLife.ts"
import type { Plan } from "./catalogue.ts"
import type { NodeToday } from "./Today.ts"

/** A node as a world keeps it. */
export interface NodeRecord extends LivingNode {
  readonly plan: Plan
  /** Id of the public or saved image it was made from. */
  readonly imageId: number
  readonly backups: boolean
  /** A locked node refuses user actions (interface.md §2.4). Nothing in the interface locks one. */
  readonly locked: boolean
  /** Only in a world that follows the service of 2026: where it is, and what else it has there. */
  readonly today?: NodeToday
}
