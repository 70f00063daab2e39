/**
 * The list before its nodes are believed: at the very beginning, when the first list may be empty, short or shifted, and after
 * the API key was exchanged, when it may be that of another account.
 */
import { createdMillisOf, type Node, type NodeId } from "@berthkit/core/domain/Node"
import { compareIncarnation, type Known } from "./Belief.ts"
import type { Moment } from "./Observation.ts"

/** A list that lacks more nodes than this is itself in doubt, and no node is read. */
const maxDoubtful = 20

export interface Census {
  /** The nodes of the last complete sweep, and those that reads added to it; null before the first one. */
  readonly listed: ReadonlyMap<NodeId, Node> | null
  /** Begin of that sweep. */
  readonly asked: Moment | null
  /** The nodes on the pages since then. */
  readonly current: ReadonlyMap<NodeId, Node>
  /** Nodes that the last complete sweep lacks and the one before had: each has to be read. */
  readonly doubtful: ReadonlySet<NodeId>
}

export const emptyCensus = (): Census => ({ listed: null, asked: null, current: new Map(), doubtful: new Set() })

/** The nodes to begin with, or the census that goes on. */
export type Count = { readonly nodes: ReadonlyMap<NodeId, Node> } | { readonly census: Census }

/** The list was read to its end: believed when it has every node of the list before it. */
export const afterCensusSweep = ({ current, listed }: Census, asked: Moment): Count => {
  const missing: Array<NodeId> = []
  for (const id of listed?.keys() ?? []) if (!current.has(id)) missing.push(id)
  if (listed !== null && missing.length === 0) return { nodes: current }
  const doubtful = new Set(missing.length > maxDoubtful ? [] : missing)
  return { census: { listed: current, asked, current: new Map(), doubtful } }
}

/** A doubtful node was read: believed when no other is doubtful. Null means that it answered 404. */
export const afterCensusRead = (census: Census, id: NodeId, node: Node | null): Count => {
  const { listed } = census
  if (listed === null || !census.doubtful.has(id)) return { census }
  const doubtful = new Set(census.doubtful)
  doubtful.delete(id)
  const nodes = node === null ? listed : new Map(listed).set(id, node)
  return doubtful.size === 0 ? { nodes } : { census: { ...census, listed: nodes, doubtful } }
}

/** Whether these are the nodes of the account that is known: one node of both is enough, for ids belong to one account. */
export const isSameAccount = (known: ReadonlyMap<NodeId, Known>, listed: ReadonlyMap<NodeId, Node>): boolean => {
  if (known.size === 0) return true
  for (const [id, node] of listed) {
    const state = known.get(id)?.state
    if (state !== undefined && compareIncarnation(node, createdMillisOf(state.node)) === "same") {
      return true
    }
  }
  return false
}
