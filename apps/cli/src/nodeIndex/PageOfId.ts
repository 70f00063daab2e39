/**
 * Finds the record of one node in the list without an index: ids ascend, so pages are halved, and guessed from how far apart the
 * ids are. Gives up after a few requests: what only the list has of a node is not worth a whole listing. Pure: `begin` and
 * `take` name the next page, and the caller reads it.
 */
import { ascends } from "@berthkit/core/client/listing/PageRange"
import type { Node, NodeId } from "@berthkit/core/domain/Node"

/** Most requests for one node. */
const maxPages = 8

export type Step =
  | { readonly _tag: "Read"; readonly page: number; readonly state: State }
  | { readonly _tag: "Found"; readonly node: Node }
  /** The list does not have it, or it was not found in so many requests. */
  | { readonly _tag: "Missing" }

/** A page that was read, and the id on its side of the node. */
interface Bound {
  readonly page: number
  readonly id: number
}

export interface State {
  readonly id: NodeId
  readonly low: Bound
  /** The node's page is before this one; without an id where that is empty. */
  readonly high: { readonly page: number; readonly id: number | undefined } | undefined
  readonly pagesRead: number
  /** Nodes on the first page, and how far apart their ids are. */
  readonly full: number
  readonly idsPerPage: number
}

const missing: Step = { _tag: "Missing" }

export const begin = (id: NodeId): Step => ({
  _tag: "Read",
  page: 1,
  state: { id, low: { page: 0, id: 0 }, high: undefined, pagesRead: 0, full: 0, idsPerPage: 1 }
})

/** The next page to read: guessed, and every other time halfway, so that no list is too uneven. */
const guess = ({ high, id, idsPerPage, low, pagesRead }: State): number => {
  const ahead = Math.max(1, Math.round((id - low.id) / idsPerPage))
  if (high === undefined) return low.page + ahead
  const halfway = (low.page + high.page) >> 1
  if (pagesRead % 2 === 1) return halfway
  const within =
    high.id === undefined
      ? low.page + ahead
      : low.page + Math.round(((high.page - low.page) * (id - low.id)) / (high.id - low.id))
  return Math.min(high.page - 1, Math.max(low.page + 1, within))
}

/** Interprets the page that was requested. */
export const take = (state: State, page: number, nodes: ReadonlyArray<Node>): Step => {
  const { id } = state
  const node = nodes.find((each) => each.id === id)
  if (node !== undefined) return { _tag: "Found", node }
  if (!ascends(nodes)) return missing
  const [first] = nodes
  const last = nodes.at(-1)
  const isFirst = state.pagesRead === 0
  const full = isFirst ? nodes.length : state.full
  const pagesRead = state.pagesRead + 1
  const counted: State = {
    ...state,
    pagesRead,
    full,
    idsPerPage: isFirst && first && last ? Math.max(1, last.id - first.id) : state.idsPerPage
  }
  const isBehind = first === undefined || last === undefined || id < first.id
  // Between the ids of a page it does not have, or behind the last page.
  if (!isBehind && (id < last.id || nodes.length < full)) return missing
  const next: State = isBehind
    ? { ...counted, high: { page, id: first?.id } }
    : { ...counted, low: { page, id: last.id } }
  if (next.high !== undefined && next.high.page - next.low.page <= 1) return missing
  return pagesRead >= maxPages ? missing : { _tag: "Read", page: guess(next), state: next }
}
