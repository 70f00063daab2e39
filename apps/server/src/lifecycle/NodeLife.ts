/**
 * The life of a node (decision 11): what it shows at an instant is a function of the world's seed, the node's record and
 * that instant. There are no timers and nothing to keep in step, so a million nodes cost memory and nothing else.
 * Instants and durations are milliseconds.
 */
import { type Commitment, termAt, terminatesAt } from "./CommitmentTerm.ts"

/** How long the two stages take that end by themselves. */
export interface Lifecycle {
  /** From the create to `running`. Default 2 s. */
  readonly provisioningMs: number
  /** From the delete to being gone. Default 2 s. */
  readonly terminationMs: number
}

/** What the life of a node depends on. */
export interface LivingNode {
  readonly id: number
  readonly createdAt: number
  /** When a delete was accepted, `null` while none was. */
  readonly deletedAt: number | null
  readonly commitment: Commitment | null
  /** Never gets past `created`: a fault of its create. */
  readonly stuck?: true
}

/** The documented statuses (interface.md §3), and `gone`: no longer readable, no longer listed. */
export type Phase = "created" | "running" | "power-off" | "terminate" | "gone"

/** How long this node takes to provision. The same for all today; jitter and outcomes by seed and id belong here. */
const provisioningMs = (_seed: number, lifecycle: Lifecycle, node: LivingNode): number =>
  node.stuck === true ? Number.POSITIVE_INFINITY : lifecycle.provisioningMs

/** When the node begins to terminate: by a delete, or by the end of its commitment, whichever comes first. */
const terminationBeginsAt = (node: LivingNode): number =>
  Math.min(
    node.deletedAt ?? Number.POSITIVE_INFINITY,
    node.commitment === null ? Number.POSITIVE_INFINITY : terminatesAt(node.commitment)
  )

/** When the node is gone; infinite while nothing terminates it. */
export const goneAt = (lifecycle: Lifecycle, node: LivingNode): number =>
  terminationBeginsAt(node) + lifecycle.terminationMs

/** What the node shows at `now`. The reply to the create shows `Create` instead (decision 11). */
export const phaseAt = (seed: number, lifecycle: Lifecycle, node: LivingNode, now: number): Phase => {
  if (now >= goneAt(lifecycle, node)) return "gone"
  if (now >= terminationBeginsAt(node)) return "terminate"
  return now < node.createdAt + provisioningMs(seed, lifecycle, node) ? "created" : "running"
}

/** What a node does by itself, and when. */
export interface NodeChange {
  readonly kind: "provisioning-ends" | "powers-off" | "vanishes" | "commitment-ends" | "termination-ends"
  readonly at: number
}

/** The first change after `now`, `null` when there will be none unless somebody asks for one. */
export const nextChange = (seed: number, lifecycle: Lifecycle, node: LivingNode, now: number): NodeChange | null => {
  const term = node.commitment === null ? null : termAt(node.commitment, now)
  const changes: ReadonlyArray<NodeChange> = [
    { kind: "provisioning-ends", at: node.createdAt + provisioningMs(seed, lifecycle, node) },
    { kind: "commitment-ends", at: term?.endsAt ?? Number.POSITIVE_INFINITY },
    { kind: "termination-ends", at: goneAt(lifecycle, node) }
  ]
  let next: NodeChange | null = null
  for (const change of changes) if (change.at > now && change.at < (next?.at ?? Number.POSITIVE_INFINITY)) next = change
  return next
}
