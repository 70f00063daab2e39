/**
 * Reads the whole list in ascending order of ids, page by page, while nodes are created and deleted: every node that
 * exists throughout is given exactly once. Pure: `next` says which page to ask for, `take` what a page means.
 */
import { pageSize } from "../../api/Routes.ts"
import type { Node } from "../../domain/Node.ts"
import { type Window, windowAt } from "./Window.ts"

/** How far a listing has come. */
export interface Progress {
  /** Position in the list up to which everything is read, as far as is known. */
  readonly offset: number
  /** Id of the last node given; 0 before the first. */
  readonly lastId: number
  /** Largest page the service is known to give: its own limit is not documented. */
  readonly largest: number
  /** Full pages in a row that had nothing new. */
  readonly idle: number
  /** Whether the service gives pages of its own size whatever is asked for: then they are read one after the other. */
  readonly fixed: boolean
  /** Whether every page began at or before the last node seen, so that nothing can have moved past it. */
  readonly complete: boolean
}

/** After going back a page or two have nothing new; more than that is a service that gives one page whatever is asked. */
const mostIdle = 4

/** What a page means. */
export interface Step {
  /** Nodes not given before, ascending. */
  readonly nodes: ReadonlyArray<Node>
  readonly progress: Progress
  /** Whether the list is at its end. */
  readonly ended: boolean
}

export const begin: Progress = {
  offset: 0,
  lastId: 0,
  largest: pageSize.maximum,
  idle: 0,
  fixed: false,
  complete: true
}

/** The page to ask for. */
export const next = ({ fixed, largest, offset }: Progress): Window =>
  fixed ? { page: Math.round(offset / largest) + 1, perPage: largest, start: offset } : windowAt(offset, largest)

/**
 * What a page means that was asked for with `next`. Sorts it first: the order of ids is not documented (decision 7).
 * `isWhole` says that the service calls it the only one.
 */
export const take = (progress: Progress, window: Window, page: ReadonlyArray<Node>, isWhole = false): Step => {
  // More than was asked for: the size of a page is the service's own, and nothing but its number can be relied on.
  if (!progress.fixed && progress.lastId > 0 && page.length > window.perPage) {
    return { nodes: [], progress: { ...progress, offset: 0, largest: page.length, fixed: true }, ended: false }
  }
  const sorted = page.toSorted((a, b) => a.id - b.id)
  if (progress.fixed) return takeFixed(progress, window, sorted)
  const [first] = sorted
  const overlaps = window.start < progress.offset
  const touches = window.start === 0 || !overlaps || (first !== undefined && first.id <= progress.lastId)
  // Nodes before this window have gone, and others have moved forward past it: go back until it touches what is read.
  if (!touches) {
    return {
      nodes: [],
      progress: { ...progress, offset: Math.max(0, progress.offset - progress.largest) },
      ended: false
    }
  }
  const nodes = sorted.filter(({ id }, i) => id > progress.lastId && id !== sorted[i - 1]?.id)
  const lastId = nodes.at(-1)?.id ?? progress.lastId
  const offset = window.start + sorted.length
  // The first page tells how many the service gives at most; until a second one nobody knows whether it was the last.
  if (progress.lastId === 0) {
    const ended = sorted.length === 0 || (isWhole && sorted.length < window.perPage)
    return { nodes, progress: { ...progress, offset, lastId, largest: sorted.length }, ended }
  }
  const idle = nodes.length === 0 ? progress.idle + 1 : 0
  const complete = progress.complete && (window.start === 0 || overlaps || sorted.length === 0) && idle <= mostIdle
  return {
    nodes,
    progress: { ...progress, offset, lastId, idle, complete },
    ended: sorted.length < window.perPage || idle > mostIdle
  }
}

/** A page of a service that has its own size of pages: the list ends with one that is empty, or has nothing new twice. */
const takeFixed = (progress: Progress, window: Window, sorted: ReadonlyArray<Node>): Step => {
  const nodes = sorted.filter(({ id }, i) => id > progress.lastId && id !== sorted[i - 1]?.id)
  // The first page is known; from the second on a page without anything new is one that comes again and again.
  const idle = nodes.length === 0 && window.page > 1 ? progress.idle + 1 : 0
  const lastId = nodes.at(-1)?.id ?? progress.lastId
  const complete = progress.complete && (window.page === 1 || nodes.length === 0)
  return {
    nodes,
    progress: { ...progress, offset: window.start + progress.largest, lastId, idle, complete },
    ended: sorted.length === 0 || idle > 1
  }
}
