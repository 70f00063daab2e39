/**
 * Reads the whole list page by page while nodes are created and deleted. If the list is sorted by id, the requested pages overlap, so every
 * node that exists the whole time is emitted exactly once. Any other list is read one page after the other. If the caller accepts that a
 * node may be missed (`exact` is false), the pages do not overlap, which takes fewer requests. `next` returns the page to request, `take`
 * interprets it.
 */
import { pageSize } from "../../api/Routes.ts"
import { alignedAt, ascends, type PageRange, rangeAt } from "./PageRange.ts"

/** The progress of a listing. Its sets are modified in place, because each progress is continued only once. */
export type Progress = Overlapping | InTurn

/** The list is sorted by id, as far as it was read. */
interface Overlapping {
  readonly _tag: "Overlapping"
  /** Whether a node that moves while the list is read must not be missed. */
  readonly exact: boolean
  /** The number of nodes on the first page. */
  readonly first: number
  /** Everything before this position was read. */
  readonly offset: number
  /** Id of the last emitted node; 0 before the first. */
  readonly lastId: number
  /** Largest page that the service has returned; its limit is undocumented. */
  readonly maxPerPage: number
  /** Consecutive pages without a new node. */
  readonly idle: number
  /** Emitted ids with their last position in the list, which only decreases because new nodes are appended. */
  readonly emitted: Map<number, number>
  /**
   * Whether every page began at or before the last node read. If so, the listing cannot have missed a node that moved.
   * `"assumed"` for an inexact list.
   */
  readonly complete: boolean | "assumed"
}

/** The list is not sorted by id, or a page differs from the requested size or number. */
interface InTurn {
  readonly _tag: "InTurn"
  /** Pages read in this mode. */
  readonly turn: number
  readonly perPage: number
  /** Consecutive pages whose nodes were all read before. */
  readonly idle: number
  /** Ids emitted before this mode. */
  readonly emitted: ReadonlyMap<number, number>
  /** Ids on the pages read in this mode. */
  readonly read: Set<number>
  /** Whether the first page is read once more, after a second page that was empty. */
  readonly isLastLook: boolean
  /**
   * True only for a list of at most one page whose nodes all still existed at the last look, because then no other node
   * can have moved to that page after it was read.
   */
  readonly complete: boolean
}

/** The identity of a node in a listing. */
interface Identified {
  readonly id: number
}

/** The result of a page. */
export interface Step<A extends Identified = Identified> {
  /** Nodes that were not emitted before, in list order. */
  readonly nodes: ReadonlyArray<A>
  readonly progress: Progress
  /** Whether the list has ended. */
  readonly ended: boolean
}

/** After a step back, one or two pages have nothing new. If there are more such pages, the page numbers are wrong. */
const maxIdle = 4

export const begin = (exact = true): Progress => ({
  _tag: "Overlapping",
  exact,
  first: 0,
  offset: 0,
  lastId: 0,
  maxPerPage: pageSize.maximum,
  idle: 0,
  emitted: new Map(),
  complete: true
})

/**
 * The page to request. In the mode `InTurn`, the first request is for page 1, the second has no page number, and then come page 2, page 3
 * and so on. If the service counts from 0, the request without a number gets its page 0. If page 2 is empty, the last request is for page
 * 1 again.
 */
export const next = (progress: Progress): PageRange =>
  progress._tag === "Overlapping"
    ? skipsOverlap(progress)
      ? alignedAt(progress.offset, progress.maxPerPage)
      : rangeAt(progress.offset, progress.maxPerPage)
    : {
        page: progress.isLastLook ? 1 : progress.turn === 1 ? undefined : Math.max(1, progress.turn),
        perPage: progress.perPage,
        start: 0
      }

/**
 * Whether the next page need not overlap. The page after a first page that is not full does overlap: one more request
 * is needed in any case, and the overlap shows whether the pages fit together.
 */
const skipsOverlap = ({ exact, first, maxPerPage, offset }: Overlapping) =>
  !exact && (offset > first || maxPerPage === pageSize.maximum)

/**
 * The id of the record before a range, or 0 if that record has no id. With 0, all pages of records without ids get the
 * same ids, so the second one counts as read before. Otherwise a list of such records might never end.
 */
export const idBefore = (progress: Progress, { start }: PageRange): number =>
  progress._tag === "Overlapping"
    ? (progress.emitted.entries().find(([id, at]) => at === start - 1 && Number.isInteger(id))?.[0] ?? 0)
    : 0

/**
 * Whether the list ends with this page. A full page proves nothing, and neither does the length of the first page, because no service
 * states its page size: a shorter page may be full. The first page ends the list if it is known to be the only one. Later pages are no
 * larger than earlier ones, so a later page that is not full ends the list.
 */
const isLast = (isFirst: boolean, isOnly: boolean, length: number, { perPage }: PageRange): boolean =>
  length < perPage && (!isFirst || isOnly)

/**
 * Interprets the page that `next` requested. `isOnly` is set if it is known to be the only page, and `isMissing` if the service answered 404,
 * which ends the list but does not prove that it is complete.
 */
export const take = <A extends Identified>(
  progress: Progress,
  range: PageRange,
  page: ReadonlyArray<A>,
  isOnly = false,
  isMissing = false
): Step<A> => {
  if (progress._tag === "InTurn") return takeInTurn(progress, page, isMissing)
  const isFirst = progress.first === 0
  const ended = isLast(isFirst, isOnly, page.length, range)
  if (isFirst && ended) {
    const nodes = page.filter(({ id }, i) => isFirstSeen(progress.emitted, id, i))
    return { nodes, progress: { ...progress, first: page.length }, ended: true }
  }
  // An empty first page means an empty account, or a service that counts pages from 0.
  if (!fits(progress, range, page) || (isFirst && page.length === 0)) return goInTurn(progress, range, page)
  const [first] = page
  const overlaps = range.start < progress.offset
  const touches = range.start === 0 || !overlaps || (first !== undefined && first.id <= progress.lastId)
  // Nodes before this range were deleted, so later nodes moved forward out of the range: go back until the range touches the part that
  // was read.
  if (!touches) {
    return {
      nodes: [],
      progress: { ...progress, offset: Math.max(0, progress.offset - progress.maxPerPage) },
      ended: false
    }
  }
  const nodes = page.filter(({ id }, i) => isFirstSeen(progress.emitted, id, range.start + i))
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
      // The first page shows the service's largest page.
      maxPerPage: isFirst ? page.length : progress.maxPerPage,
      idle,
      complete:
        range.start === 0 || overlaps
          ? progress.complete
          : skipsOverlap(progress)
            ? progress.complete && "assumed"
            : progress.complete && page.length === 0 && !isMissing
    },
    ended
  }
}

/** Whether this can be the requested page of a sorted list that grows only at its end. */
const fits = ({ emitted, lastId }: Overlapping, { perPage, start }: PageRange, page: ReadonlyArray<Identified>) =>
  page.length <= perPage &&
  ascends(page) &&
  page.every(({ id }, i) => id > lastId || start + i <= (emitted.get(id) ?? -1))

/** Records the position of the id, and returns whether it is new. */
const isFirstSeen = (ids: Map<number, number>, id: number, position: number): boolean =>
  ids.size < ids.set(id, position).size

/** Switches to the mode `InTurn`, with pages of one size. */
const goInTurn = <A extends Identified>(
  { first, emitted, maxPerPage }: Overlapping,
  range: PageRange,
  page: ReadonlyArray<A>
): Step<A> => {
  const isFirst = first === 0
  const perPage = isFirst ? Math.min(page.length || maxPerPage, maxPerPage) : maxPerPage
  const progress: InTurn = {
    _tag: "InTurn",
    turn: 0,
    perPage,
    idle: 0,
    emitted,
    read: new Set(),
    isLastLook: false,
    complete: isFirst
  }
  return isFirst && perPage === range.perPage ? takeInTurn(progress, page) : { nodes: [], progress, ended: false }
}

/**
 * Ends at an empty page, or after two pages in a row without a new node, because the service then returns the same page for every number.
 */
const takeInTurn = <A extends Identified>(progress: InTurn, page: ReadonlyArray<A>, isMissing = false): Step<A> => {
  const { emitted, isLastLook: wasLastLook, read, turn } = progress
  const fresh = page.filter(({ id }) => read.size < read.add(id).size)
  const idle = fresh.length === 0 ? progress.idle + 1 : 0
  const isLastLook = !wasLastLook && turn === 2 && page.length === 0 && !isMissing && read.size > 0
  const complete = wasLastLook
    ? new Set(page.map(({ id }) => id)).size === read.size
    : progress.complete && read.size === 0
  return {
    nodes: fresh.filter(({ id }) => !emitted.has(id)),
    progress: { ...progress, turn: turn + 1, idle, isLastLook, complete },
    ended: wasLastLook || (!isLastLook && (idle > 1 || (page.length === 0 && turn > 1)))
  }
}
