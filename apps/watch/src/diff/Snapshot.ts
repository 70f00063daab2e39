/**
 * What the daemon believes: every node it knows of, tombstones of those it has reported deleted, and its troubles. `diff` reads
 * it; `apply` is the only place where it changes, so that a store can make the same change in one transaction.
 */
import type { Node, NodeId } from "@berth/core/domain/Node"
import type { Absence } from "./Absence.ts"
import type { Freeze } from "./Freeze.ts"
import type { Exchange } from "./Observation.ts"

/** A node that is believed to exist. */
export interface Known {
  readonly node: Node
  /** Seconds since the epoch at which the service accepted the node. */
  readonly incarnation: number
  /** `Moment.order` of the answer that showed it first. */
  readonly metOrder: number
  /** The newest exchange that showed it. */
  readonly seen: Exchange
  /** When its present status was first seen, on the clock of `Moment.monotonicMillis`. */
  readonly statusSinceMonotonicMillis: number
  /** Version of its last status change. */
  readonly changes: number
  /** 1, and one more each time it came back after it was reported deleted. */
  readonly lives: number
  /** Evidence that it is gone; null while there is none. */
  readonly absence: Absence | null
}

/** A node that was reported deleted: kept so that the reply to an earlier request does not bring it back. */
export interface Tombstone {
  readonly nodeId: NodeId
  readonly incarnation: number
  /** `Moment.order` of the answer that proved it gone. */
  readonly order: number
  readonly changes: number
  readonly lives: number
}

/** Since when the list cannot be read. */
interface Outage {
  readonly sinceMillis: number
}

/** The state of the account beside its nodes. */
export interface Standing {
  /** When the last complete sweep began, in milliseconds since the epoch; null before the baseline. */
  readonly sweptMillis: number | null
  /** Requests the last complete sweep took. */
  readonly sweepRequests: number
  readonly outage: Outage | null
  readonly freeze: Freeze | null
}

export interface Snapshot {
  readonly nodes: ReadonlyMap<NodeId, Known>
  readonly tombstones: ReadonlyMap<NodeId, Tombstone>
  /** Ids of the nodes to poll before the next sweep: those in transition, and those that may be gone. */
  readonly pending: ReadonlySet<NodeId>
  readonly standing: Standing
}

/** What an observation changes in the snapshot. */
export interface Change {
  readonly known: ReadonlyArray<Known>
  readonly tombstones: ReadonlyArray<Tombstone>
  readonly standing: Standing
}

/** Enough for every reply still under way; the oldest go first. */
const maxTombstones = 10_000

/** Statuses that a node passes through (decision 11). */
const transitional: ReadonlySet<Node["status"]> = new Set(["creating", "created", "terminate"])

const isPending = ({ absence, node }: Known): boolean => absence !== null || transitional.has(node.status)

/** A snapshot that knows nothing yet, and how to change it. */
export const makeSnapshot = (): { readonly snapshot: Snapshot; readonly apply: (change: Change) => void } => {
  const nodes = new Map<NodeId, Known>()
  const tombstones = new Map<NodeId, Tombstone>()
  const pending = new Set<NodeId>()
  const snapshot = {
    nodes,
    tombstones,
    pending,
    standing: { sweptMillis: null, sweepRequests: 1, outage: null, freeze: null } as Standing
  }
  const apply = (change: Change) => {
    for (const tombstone of change.tombstones) {
      nodes.delete(tombstone.nodeId)
      pending.delete(tombstone.nodeId)
      tombstones.delete(tombstone.nodeId)
      tombstones.set(tombstone.nodeId, tombstone)
    }
    for (const known of change.known) {
      const { id } = known.node
      nodes.set(id, known)
      if (isPending(known)) pending.add(id)
      else pending.delete(id)
    }
    for (const id of tombstones.keys()) {
      if (tombstones.size <= maxTombstones) break
      tombstones.delete(id)
    }
    snapshot.standing = change.standing
  }
  return { snapshot, apply }
}
