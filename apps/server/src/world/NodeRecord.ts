/**
 * The record of a node. It is small on purpose, because a world may have a million of them: addresses and the microseconds
 * of `created_at` are computed from seed and id, and the status from the lifecycle. Instants are milliseconds since the
 * epoch.
 */
import type { LivingNode } from "../lifecycle/NodeLife.ts"
import type { Plan } from "./catalogue.ts"
import type { NodeToday } from "./Today.ts"

/** A node in a world's table. */
export interface NodeRecord extends LivingNode {
  readonly plan: Plan
  /** Id of the public or saved image from which the node was made. */
  readonly imageId: number
  readonly backups: boolean
  /** A locked node refuses user actions (interface.md §2.4). No request of the interface locks a node. */
  readonly locked: boolean
  /** The node's place and its other data, only in a world that imitates the service of 2026. */
  readonly today?: NodeToday
}
