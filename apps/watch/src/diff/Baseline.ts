/**
 * Checks a list before its nodes are believed. At the start, the first list may be empty, short or shifted. After a change of
 * the API key, the list may belong to another account.
 */
import { createdMillisOf, type Node, type NodeId } from "@berthkit/core/domain/Node"
import { compareIncarnation, type Known } from "./Belief.ts"
import type { Moment } from "./Observation.ts"

/** If more nodes than this are missing from a list, the list itself is in doubt, and no single nodes are read. */
const maxDoubtful = 20

export interface Census {
  /**
   * The nodes of the last complete sweep (a read of the whole list), and nodes that single reads added; null before the first
   * sweep.
   */
  readonly listed: ReadonlyMap<NodeId, Node> | null
  /** The start of the last complete sweep. */
  readonly asked: Moment | null
  /** The nodes on the pages of the running sweep. */
  readonly current: ReadonlyMap<NodeId, Node>
  /** Nodes that are missing from the last complete sweep but were in the previous one: each must be read. */
  readonly doubtful: ReadonlySet<NodeId>
}

export const emptyCensus = (): Census => ({ listed: null, asked: null, current: new Map(), doubtful: new Set() })

/** The nodes of the baseline, or the next state of the census. */
export type Count = { readonly nodes: ReadonlyMap<NodeId, Node> } | { readonly census: Census }

/** The list was read to its end: it is believed if it has every node of the previous list. */
export const afterCensusSweep = ({ current, listed }: Census, asked: Moment): Count => {
  const missing: Array<NodeId> = []
  for (const id of listed?.keys() ?? []) if (!current.has(id)) missing.push(id)
  if (listed !== null && missing.length === 0) return { nodes: current }
  const doubtful = new Set(missing.length > maxDoubtful ? [] : missing)
  return { census: { listed: current, asked, current: new Map(), doubtful } }
}

/**
 * A doubtful node was read. The list is believed if no other node is doubtful. `node` is null if the read answered 404.
 */
export const afterCensusRead = (census: Census, id: NodeId, node: Node | null): Count => {
  const { listed } = census
  if (listed === null || !census.doubtful.has(id)) return { census }
  const doubtful = new Set(census.doubtful)
  doubtful.delete(id)
  const nodes = node === null ? listed : new Map(listed).set(id, node)
  return doubtful.size === 0 ? { nodes } : { census: { ...census, listed: nodes, doubtful } }
}

/** Whether these nodes belong to the known account: a single common node is enough, because ids belong to one account. */
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
