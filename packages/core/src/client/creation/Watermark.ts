/**
 * Finds the watermark (the highest node id before a create) and the nodes above it. A later node has a higher id (A11), so both are at the
 * end of the list, and a few requests find them. The search relies on the order of the list (A7), checks that order, and reads the whole
 * list if it is not sorted. A list without an end, or with fewer nodes than it states, fails as `UnexpectedResponse`, because a missing
 * node may be the create's.
 */
import { Effect, Semaphore } from "effect"
import { pageSize } from "../../api/Routes.ts"
import type { BerthError } from "../../domain/BerthError.ts"
import { createdMillisOf, type Node } from "../../domain/Node.ts"
import {
  defaultMaxNodes,
  endless,
  ensurePages,
  ensureUncut,
  ensureWhole,
  maxRequestsOf,
  type MaybeMissing,
  minPlausiblePage,
  statesAll,
  statesWhole,
  type Totals
} from "../listing/Bounds.ts"
import { ascends } from "../listing/PageRange.ts"
import type { ListedAbove } from "./IntentStore.ts"
import { blurMillis } from "./Ownership.ts"

/** A page whose records are all readable. */
export interface NodesOfPage extends Totals, MaybeMissing {
  readonly nodes: ReadonlyArray<Node>
}

/** Reads one page of the list, from 1. */
export type ReadPage = (page: number) => Effect.Effect<NodesOfPage, BerthError>

const maxPagesOf = (pageLength: number) => maxRequestsOf(defaultMaxNodes, pageLength)

/** Whether the totals of the first page say that there is no other page. A page of the largest size proves nothing (decision 0229). */
const isOnly = (page: number, { nodes, pages, total }: NodesOfPage): boolean =>
  page === 1 && nodes.length < pageSize.maximum && statesWhole({ pages, total }, nodes.length)

/** Whether the length of a page shows that another page follows. */
const isFull = (nodes: ReadonlyArray<Node>, full: number) => nodes.length > 0 && nodes.length >= full

/** The end of the list at its last read: the last page, the number of its nodes, and the length of a full page. */
interface End {
  readonly page: number
  readonly length: number
  readonly full: number
  /** Whether the totals said that no other page exists. */
  readonly isStated: boolean
}

/**
 * Finds the last page with nodes: goes forward in doubled steps until a page is empty, then halves the steps. If the
 * end was known, reads that page first, and usually needs no other request.
 */
const findLastPage = Effect.fnUntraced(function* (readPage: ReadPage, known: End | undefined) {
  let low = known?.page ?? 1
  // A page may follow a full page. Read that following page first: if it is empty, no deletion can have moved nodes
  // from it to the full page unseen.
  const mayBeFull = known !== undefined && !known.isStated && known.length > 0 && known.length >= known.full
  const after = mayBeFull ? yield* readPage(low + 1) : undefined
  let isMissing = after?.isMissing
  let isLast = after?.nodes.length === 0
  let last = yield* readPage(low)
  if (last.nodes.length === 0 && low > 1) {
    known = undefined
    isLast = false
    low = 1
    last = yield* readPage(1)
  }
  const { nodes } = last
  // The page is shorter than before: nodes were deleted, or the service's pages are shorter now, so this may not be the last page.
  const shrunk = known !== undefined && nodes.length < known.length
  const from = low
  const full = known === undefined || shrunk ? Math.min(nodes.length, pageSize.maximum) : known.full
  const at = (page: number, { nodes, pages, total }: NodesOfPage, ascending: boolean) => ({
    end: {
      page,
      length: nodes.length,
      full: shrunk && page === from ? known!.full : full,
      isStated: isOnly(page, { nodes, pages, total })
    },
    nodes,
    totals: { pages, total },
    // The page after this one may be a 404, which proves nothing.
    isProved: !isMissing || statesAll({ pages, total }, (page - 1) * full + nodes.length, page, full),
    ascending
  })
  if (nodes.length === 0) return at(1, last, true)
  if (!ascends(nodes)) return at(low, last, false)
  if (isOnly(low, last)) return at(low, last, true)
  if (isLast || (low > 1 && !shrunk && !isFull(nodes, full))) return at(low, last, true)
  // Whether nodes may have moved to the page `low` since it was read. No page follows a first page that is shorter than any full page.
  let stale = false
  let step = 1
  let high = Number.POSITIVE_INFINITY
  while (low + 1 < high) {
    const page = high === Number.POSITIVE_INFINITY ? low + step : (low + high) >> 1
    if (page > maxPagesOf(full)) return yield* endless(defaultMaxNodes, maxPagesOf(full), low * full, low)
    const read = yield* readPage(page)
    if (read.nodes.length === 0) {
      high = page
      isMissing = read.isMissing
      stale = low > 1 || last.nodes.length >= minPlausiblePage
    } else {
      // A repeated page has nodes of an earlier page, even if the first of these is deleted in the meantime.
      if (!ascends(read.nodes) || read.nodes[0]!.id <= last.nodes.at(-1)!.id) return at(page, read, false)
      low = page
      last = read
      stale = false
      step *= 2
      // A later page that is not full is the last one.
      if (!isFull(read.nodes, full)) {
        isMissing = undefined
        break
      }
    }
  }
  // The next page was found empty after this page was read, and deletions in between may have moved the end of the list onto this page.
  for (; stale; low--) {
    last = yield* readPage(low)
    if (last.nodes.length > 0 || low === 1) break
  }
  return at(low, last, ascends(last.nodes))
})

/** The last page. If it ends a sorted list, that list must be complete. */
const lastPage = (readPage: ReadPage, known: End | undefined) =>
  Effect.tap(findLastPage(readPage, known), ({ ascending, end: { full, length, page }, totals }) => {
    const shown = (page - 1) * full + length
    return ascending ? Effect.andThen(ensureWhole(totals.total, shown), ensurePages(totals, page, shown)) : Effect.void
  })

/**
 * Visits every page, if the order of the list is unreliable. Returns whether the pages show every node: nodes may move
 * to pages that were already read when others are deleted. So several pages show every node only if each page states
 * exactly the number of nodes read, or if a second reading has all nodes of the first.
 */
const everyNode = Effect.fnUntraced(function* (readPage: ReadPage, visit: (nodes: ReadonlyArray<Node>) => void) {
  const ids = new Set<number>()
  let page = 0
  let longest = 0
  let totals: Totals = { pages: null, total: null }
  let isSteady = true
  while (page < maxPagesOf(longest) && ids.size <= defaultMaxNodes) {
    const before = ids.size
    const read = yield* readPage(++page)
    const { nodes } = read
    longest = Math.max(longest, nodes.length)
    for (const { id } of nodes) ids.add(id)
    visit(nodes)
    isSteady &&= page === 1 || read.isMissing || read.total === totals.total
    totals = { pages: read.pages ?? totals.pages, total: read.total ?? totals.total }
    if (isOnly(page, read)) return true
    if (ids.size > before) continue
    // The page is empty or the same as before. If every page is the first one, the service ignores the page's number.
    if (nodes.length > 0 && ids.size <= longest) {
      yield* ensureUncut(totals, ids.size)
      return statesWhole(totals, ids.size)
    }
    yield* ensureWhole(totals.total, ids.size)
    yield* ensurePages(totals, page - 1, ids.size)
    // A deletion in between makes a repeated page look like a second page. Without totals, only an empty page shows the end.
    if (nodes.length > 0) return statesWhole(totals, ids.size)
    if (read.isMissing && ids.size > 0 && !statesAll(totals, ids.size, page - 1, longest)) return false
    if (ids.size < minPlausiblePage || (isSteady && totals.total === ids.size && ids.size > longest)) return true
    for (let again = 1; again < page; again++) {
      const { nodes } = yield* readPage(again)
      for (const { id } of nodes) ids.delete(id)
      visit(nodes)
    }
    return ids.size === 0
  }
  return yield* endless(defaultMaxNodes, maxPagesOf(longest), ids.size, page)
})

/** Whether ids ascend with age (A11): no node with a higher id is older, as far as the dates are known. */
const agesAscend = (byId: ReadonlyArray<Node>) =>
  byId
    .flatMap((node) => createdMillisOf(node) ?? [])
    .every((createdMillis, i, all) => i === 0 || createdMillis + blurMillis >= all[i - 1]!)

interface NodesAbove extends ListedAbove {
  readonly nodes: ReadonlyArray<Node>
}

/** Nodes with an id above `newerThan`, lowest first, and the end of the list. If ids do not ascend with age, all nodes. */
export const nodesAbove = Effect.fnUntraced(function* (readPage: ReadPage, newerThan: number, known: End | undefined) {
  const { ascending, end, isProved, nodes } = yield* lastPage(readPage, known)
  const found = new Map<number, Node>()
  const keep = (nodes: ReadonlyArray<Node>) => {
    for (const node of nodes) found.set(node.id, node)
  }
  const byId = () => Array.from(found.values()).toSorted((a, b) => a.id - b.id)
  let isWhole = isProved
  if (ascending) {
    keep(nodes)
    let lowest = nodes[0]?.id ?? 0
    // Deletions in between move other nodes to earlier pages, so the pages are read backwards, each in full.
    for (let page = end.page - 1; page >= 1 && lowest > newerThan; page--) {
      const { nodes: read } = yield* readPage(page)
      keep(read)
      lowest = read[0]?.id ?? lowest
    }
  } else isWhole = yield* everyNode(readPage, keep)
  const read = byId()
  if (agesAscend(read)) {
    return { nodes: read.filter(({ id }) => id > newerThan), isWhole, end: ascending ? end : undefined }
  }
  if (ascending) isWhole = yield* everyNode(readPage, keep)
  return { nodes: byId(), isWhole, end: undefined }
})

/** The highest id (0 without nodes), and the end of the list. */
export const highestId = Effect.fnUntraced(function* (readPage: ReadPage, known: End | undefined) {
  const { ascending, end, nodes } = yield* lastPage(readPage, known)
  let id = 0
  const raise = (nodes: ReadonlyArray<Node>) => {
    for (const node of nodes) id = Math.max(id, node.id)
  }
  if (ascending) raise(nodes)
  else yield* everyNode(readPage, raise)
  return { id, end: ascending ? end : undefined }
})

/** The questions of creates about the list. Simultaneous calls of `highest` share one reading. */
export interface Watermark {
  /** The highest id at some time after the request. */
  readonly highest: (readPage: ReadPage) => Effect.Effect<number, BerthError>
  /** The nodes with an id above this one. */
  readonly above: (readPage: ReadPage, id: number) => Effect.Effect<NodesAbove, BerthError>
}

/** The watermark of one client. */
export const make = (): Watermark => {
  const turn = Semaphore.makeUnsafe(1)
  let end: End | undefined
  let id = 0
  /** The number of readings that have begun, and the last one that has ended. */
  let begun = 0
  let ended = 0
  return {
    highest: (readPage) =>
      Effect.suspend(() => {
        const before = begun
        return turn.withPermit(
          Effect.suspend(() => {
            if (ended > before) return Effect.succeed(id)
            const reading = ++begun
            return Effect.map(highestId(readPage, end), (found) => {
              end = found.end
              // Ids are never reused. If the list now ends with a lower id, new nodes still get ids above the highest id seen before.
              id = found.end === undefined ? found.id : Math.max(id, found.id)
              ended = reading
              return id
            })
          })
        )
      }),
    above: (readPage, newerThan) =>
      Effect.map(nodesAbove(readPage, newerThan, end), (found) => {
        end = found.end
        return found
      })
  }
}
