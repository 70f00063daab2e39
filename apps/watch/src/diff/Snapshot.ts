/**
 * What the daemon believes: every node it knows of, the ones it has told deleted, and its troubles. `diff` reads it;
 * `apply` is the only place where it changes, so that a store can make the same change in one transaction.
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
  /** When its present status was first seen, on the clock of `Moment.upMillis`. */
  readonly statusSinceUpMillis: number
  /** Version of its last status change. */
  readonly changes: number
  /** 1, and one more each time it was told deleted and came back. */
  readonly lives: number
  /** Evidence that it is gone; null while there is none. */
  readonly absence: Absence | null
}

/** A node that was told deleted: kept so that an answer asked for earlier does not bring it back. */
export interface Buried {
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

/** What is believed beside the nodes themselves. */
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
  readonly buried: ReadonlyMap<NodeId, Buried>
  /** Ids of the nodes that have to be looked at before the next sweep comes by: see `isUnsettled`. */
  readonly unsettled: ReadonlySet<NodeId>
  readonly standing: Standing
}

/** What an observation changes in the snapshot. */
export interface Change {
  readonly known: ReadonlyArray<Known>
  readonly buried: ReadonlyArray<Buried>
  readonly standing: Standing
}

/** Enough for every answer still under way; the oldest go first. */
const buriedLimit = 10_000

/** Statuses a node is only passing through (decision 11). */
const passing: ReadonlySet<Node["status"]> = new Set(["creating", "created", "terminate"])

const isInTransition = (known: Known): boolean => passing.has(known.node.status)

const isUnsettled = (known: Known): boolean => known.absence !== null || isInTransition(known)

/** A snapshot that knows nothing yet, and how to change it. */
export const makeSnapshot = (): { readonly snapshot: Snapshot; readonly apply: (change: Change) => void } => {
  const nodes = new Map<NodeId, Known>()
  const buried = new Map<NodeId, Buried>()
  const unsettled = new Set<NodeId>()
  const snapshot = {
    nodes,
    buried,
    unsettled,
    standing: { sweptMillis: null, sweepRequests: 1, outage: null, freeze: null } as Standing
  }
  const apply = (change: Change) => {
    for (const grave of change.buried) {
      nodes.delete(grave.nodeId)
      unsettled.delete(grave.nodeId)
      buried.delete(grave.nodeId)
      buried.set(grave.nodeId, grave)
    }
    for (const known of change.known) {
      const { id } = known.node
      nodes.set(id, known)
      if (isUnsettled(known)) unsettled.add(id)
      else unsettled.delete(id)
    }
    for (const id of buried.keys()) {
      if (buried.size <= buriedLimit) break
      buried.delete(id)
    }
    snapshot.standing = change.standing
  }
  return { snapshot, apply }
}
