/**
 * Reads the whole list, page by page, while nodes are created and deleted. Where its order is that of ascending ids, pages
 * overlap, and every node that exists throughout is given exactly once; any other order is read one page after the other.
 * Whoever wants fewer requests than that has pages that do not overlap. `next` says which page to ask for, `take` what a page
 * means.
 */
import { pageSize } from "../../api/Routes.ts"
import type { Node } from "../../domain/Node.ts"
import type { Evidence } from "./PageMemory.ts"
import { alignedAt, type PageRange, rangeAt } from "./PageRange.ts"

/** How far a listing has come. Its sets are added to, not copied: one goes on from a progress once. */
export type Progress = Overlapping | InTurn

/** The list ascends, as far as is seen. */
interface Overlapping {
  readonly _tag: "Overlapping"
  /** Whether nothing may be missed that moves while the list is read. */
  readonly exact: boolean
  /** Nodes on the first page. */
  readonly first: number
  /** Position in the list up to which everything is read, as far as is known. */
  readonly offset: number
  /** Id of the last node given; 0 before the first. */
  readonly lastId: number
  /** Largest page the service is known to give: its own limit is not documented. */
  readonly largest: number
  /** Pages in a row that had nothing new. */
  readonly idle: number
  /** Ids given, with their position in the list when they were seen last: it gets lower, for nodes are put at the end only. */
  readonly given: Map<number, number>
  /** Whether every page began at or before the last node seen, so that nothing can have moved past it; or need not have. */
  readonly complete: boolean | "assumed"
}

/** The order is another one, or the size or number of a page is not what was asked for. */
interface InTurn {
  readonly _tag: "InTurn"
  /** How many pages were read in turn. */
  readonly turn: number
  readonly perPage: number
  /** Pages in a row that were read before. */
  readonly idle: number
  /** Ids given before that. */
  readonly given: ReadonlyMap<number, number>
  /** Ids on the pages read in turn. */
  readonly read: Set<number>
  /** Whether there is nothing at all: whatever else is read in turn may have moved meanwhile. */
  readonly complete: boolean
}

/** What a page means. */
export interface Step {
  /** Nodes not given before, in the order of the list. */
  readonly nodes: ReadonlyArray<Node>
  readonly progress: Progress
  /** Whether the list is at its end. */
  readonly ended: boolean
}

/** After going back a page or two have nothing new; where more have, their numbers do not mean what they should. */
const maxIdle = 4

export const begin = (exact = true): Progress => ({
  _tag: "Overlapping",
  exact,
  first: 0,
  offset: 0,
  lastId: 0,
  largest: pageSize.maximum,
  idle: 0,
  given: new Map(),
  complete: true
})

/** The page to ask for. In turn they are 1, the one without a number, 2, 3, …: a service may count them from 0. */
export const next = (progress: Progress): PageRange =>
  progress._tag === "Overlapping"
    ? isBlind(progress)
      ? alignedAt(progress.offset, progress.largest)
      : rangeAt(progress.offset, progress.largest)
    : { page: progress.turn === 1 ? undefined : Math.max(1, progress.turn), perPage: progress.perPage, start: 0 }

/**
 * Whether the next page need not overlap. After a first page that is not full it does: that is one request as well, and shows
 * whether pages are what they should be.
 */
const isBlind = ({ exact, first, largest, offset }: Overlapping) =>
  !exact && (offset > first || largest === pageSize.maximum)

/** What a page means that was asked for with `next`. `isWhole` says that the service calls it the only one. */
export const take = (progress: Progress, range: PageRange, page: ReadonlyArray<Node>, isWhole = false): Step => {
  if (progress._tag === "InTurn") return takeInTurn(progress, page)
  const isFirst = progress.first === 0
  if (isFirst && isWhole && page.length < range.perPage) {
    const nodes = page.filter(({ id }, i) => isFirstSeen(progress.given, id, i))
    return { nodes, progress: { ...progress, first: page.length }, ended: true }
  }
  // The first page of an account without nodes is empty, and so is that of a service that counts from 0.
  if (!fits(progress, range, page) || (isFirst && page.length === 0)) return goInTurn(progress, range, page)
  const [first] = page
  const overlaps = range.start < progress.offset
  const touches = range.start === 0 || !overlaps || (first !== undefined && first.id <= progress.lastId)
  // Nodes before this range have gone, and others have moved forward past it: go back until it touches what is read.
  if (!touches) {
    return {
      nodes: [],
      progress: { ...progress, offset: Math.max(0, progress.offset - progress.largest) },
      ended: false
    }
  }
  const nodes = page.filter(({ id }, i) => isFirstSeen(progress.given, id, range.start + i))
  const offset = range.start + page.length
  const idle = nodes.length === 0 ? progress.idle + 1 : 0
  if (idle > maxIdle) return goInTurn(progress, range, page)
  return {
    nodes,
    progress: {
      ...progress,
      first: isFirst ? page.length : progress.first,
      offset,
      lastId: nodes.at(-1)?.id ?? progress.lastId,
      // The first page tells how many the service gives at most.
      largest: isFirst ? page.length : progress.largest,
      idle,
      complete:
        range.start === 0 || overlaps
          ? progress.complete
          : isBlind(progress)
            ? progress.complete && "assumed"
            : progress.complete && page.length === 0
    },
    // Until a second one nobody knows whether the first was the last.
    ended: !isFirst && page.length < range.perPage
  }
}

/** Whether the page can be the one that was asked for, of a list in ascending order that grows at its end only. */
const fits = ({ given, lastId }: Overlapping, { perPage, start }: PageRange, page: ReadonlyArray<Node>) =>
  page.length <= perPage &&
  page.every(({ id }, i) => (i === 0 || page[i - 1]!.id <= id) && (id > lastId || start + i <= (given.get(id) ?? -1)))

/** What a listing at its end shows of the pages of the service; nothing where these are not what they should be. */
export const evidence = (progress: Progress): Evidence | undefined => {
  const { complete, given } = progress
  if (progress._tag === "Overlapping") {
    return { first: progress.first, more: given.size > progress.first, complete: complete === true }
  }
  return complete ? { first: 0, more: false, complete: true } : undefined
}

/** Notes where the id is, and says whether it was not there before. */
const isFirstSeen = (ids: Map<number, number>, id: number, position: number): boolean =>
  ids.size < ids.set(id, position).size

/** Goes over to reading in turn, all pages of one size. */
const goInTurn = ({ first, given, largest }: Overlapping, range: PageRange, page: ReadonlyArray<Node>): Step => {
  const isFirst = first === 0
  const perPage = isFirst ? Math.min(page.length || largest, largest) : largest
  const progress: InTurn = { _tag: "InTurn", turn: 0, perPage, idle: 0, given, read: new Set(), complete: isFirst }
  return isFirst && perPage === range.perPage ? takeInTurn(progress, page) : { nodes: [], progress, ended: false }
}

/** Ends with a page that is empty, or with the second in a row that was read before: then there is but one. */
const takeInTurn = (progress: InTurn, page: ReadonlyArray<Node>): Step => {
  const { given, read, turn } = progress
  const fresh = page.filter(({ id }) => read.size < read.add(id).size)
  const idle = fresh.length === 0 ? progress.idle + 1 : 0
  return {
    nodes: fresh.filter(({ id }) => !given.has(id)),
    progress: { ...progress, turn: turn + 1, idle, complete: progress.complete && read.size === 0 },
    ended: idle > 1 || (page.length === 0 && turn > 1)
  }
}
