/**
 * Which page to request next while a list is read. Pages are ranges at multiples of their size, and the list may move
 * beneath them: a deleted node moves all later ones forward, and the first of the next page into the page that was just read.
 * So each range begins at or before the last node read; with ascending ids, a range that begins with a known id has missed
 * nothing.
 */
import type { ListRecord } from "./NodePage.ts"

/**
 * A page of the list, as the service counts: `perPage` nodes from position `start`, which is 0 for the first. Without a number
 * it is the service's default page.
 */
export interface PageRange {
  readonly page: number | undefined
  readonly perPage: number
  readonly start: number
}

/** A page of the list, and what its envelope says of it. */
export interface Page {
  readonly records: ReadonlyArray<ListRecord>
  /** Whether it is the only one. */
  readonly isWhole: boolean
  /** How many nodes there are, or how many on this page; null where the service does not say. */
  readonly total: number | null
}

/** Smallest size tried, as a share of the largest: smaller pages lose more than a better fit gains. */
const minShare = 0.6

/**
 * The range that contains position `offset - 1` and reaches furthest beyond it. `maxPerPage` is the largest page that the
 * service is known to return; where that is so small that no size fits, the range begins with the next position.
 */
export const rangeAt = (offset: number, maxPerPage: number): PageRange => {
  // Where no size fits, all of them divide the position.
  let best = alignedAt(offset, maxPerPage)
  let reach = offset
  for (let perPage = maxPerPage; perPage >= Math.max(2, Math.floor(maxPerPage * minShare)); perPage--) {
    const range = alignedAt(offset - 1, perPage)
    if (range.start + perPage <= reach) continue
    reach = range.start + perPage
    best = range
  }
  return best
}

/** The range of this size that contains position `offset`. */
export const alignedAt = (offset: number, perPage: number): PageRange => {
  const before = Math.floor(offset / perPage)
  return { page: before + 1, perPage, start: before * perPage }
}
