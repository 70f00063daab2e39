/**
 * The facts of a list that ascends, for all that read one: the whole of it (`Listing.ts`), its end, or the page of an id. Ids ascend,
 * so new nodes come at the end. Pages are ranges at multiples of their size, and the list may move beneath them: a deleted node moves
 * all later ones forward, and the first of the next page into the page that was just read. So each range begins at or before the
 * last node read: one that begins with a known id has missed nothing. Pure.
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

/** One with a number. */
export interface NumberedRange extends PageRange {
  readonly page: number
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

/** The range of this size that contains position `offset`. */
export const alignedAt = (offset: number, perPage: number): NumberedRange => {
  const before = Math.floor(offset / perPage)
  return { page: before + 1, perPage, start: before * perPage }
}

/** Of the ranges that contain this position the one with the highest score, the largest of several. */
const bestAt = (offset: number, maxPerPage: number, score: (range: NumberedRange) => number): NumberedRange => {
  let best = alignedAt(offset, maxPerPage)
  for (let perPage = maxPerPage - 1; perPage >= Math.max(2, Math.floor(maxPerPage * minShare)); perPage--) {
    const range = alignedAt(offset, perPage)
    if (score(range) > score(best)) best = range
  }
  return best
}

const endOf = ({ perPage, start }: PageRange): number => start + perPage

/**
 * The range that contains position `offset - 1` and reaches furthest beyond it. `maxPerPage` is the largest page that the
 * service is known to return; where that is so small that no size fits, the range begins with the next position.
 */
export const rangeAt = (offset: number, maxPerPage: number): NumberedRange => {
  const best = bestAt(offset - 1, maxPerPage, endOf)
  // Where no size fits, all of them divide the position.
  return endOf(best) > offset ? best : alignedAt(offset, maxPerPage)
}

/** The range around the end of a list of this length: as many may have been deleted before it as made behind it. */
export const rangeAround = (length: number, maxPerPage: number): NumberedRange =>
  bestAt(length - 1, maxPerPage, (range) => Math.min(length - range.start, endOf(range) - length))

/** Whether records are in the order that a list of ascending ids has; one may come twice. */
export const ascends = (records: ReadonlyArray<{ readonly id: number | null }>): boolean => {
  let last = 0
  for (const { id } of records) {
    if (id !== null && id < last) return false
    last = id ?? last
  }
  return true
}
