/**
 * The arithmetic of a list sorted by id, for all its readers: the whole list (`Listing.ts`), its end, or the page of an id. New nodes are
 * appended. Pages are ranges that begin at multiples of their size, and nodes may move between pages: if a node is deleted, all later
 * nodes move forward by one, and the first node of the next page moves into the page that was just read. So each range begins at or
 * before the last node read. If a range begins with a known id, no node was missed. The functions are pure.
 */
import type { MaybeMissing, Totals } from "./Bounds.ts"
import type { ListRecord } from "./NodePage.ts"

/**
 * A page in the service's terms: `perPage` nodes from position `start`, which is 0 for the first. Without a number it is the service's
 * default page.
 */
export interface PageRange {
  readonly page: number | undefined
  readonly perPage: number
  readonly start: number
}

/** A page with a number. */
export interface NumberedRange extends PageRange {
  readonly page: number
}

/** A page of the list, with the facts in its envelope. */
export interface Page extends Pick<Totals, "total">, MaybeMissing {
  readonly records: ReadonlyArray<ListRecord>
  /** Whether it is the only page. */
  readonly isWhole: boolean
}

/** Smallest page size to try, as a share of the largest. Smaller pages lose more than a better fit gains. */
const minShare = 0.6

/** The range of this size that contains the position `offset`. */
export const alignedAt = (offset: number, perPage: number): NumberedRange => {
  const before = Math.floor(offset / perPage)
  return { page: before + 1, perPage, start: before * perPage }
}

/** The range with the highest score that contains this position. Among equal scores, the largest range. */
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
 * The range that contains position `offset - 1` and reaches furthest beyond it. `maxPerPage` is the service's largest known page; if it is
 * so small that no size fits, the range begins at the next position.
 */
export const rangeAt = (offset: number, maxPerPage: number): NumberedRange => {
  const best = bestAt(offset - 1, maxPerPage, endOf)
  // If no size fits, all sizes divide the position.
  return endOf(best) > offset ? best : alignedAt(offset, maxPerPage)
}

/** The range around the end of a list of this length, since nodes may have been deleted before it or appended. */
export const rangeAround = (length: number, maxPerPage: number): NumberedRange =>
  bestAt(length - 1, maxPerPage, (range) => Math.min(length - range.start, endOf(range) - length))

/** Whether records are sorted by id; repetitions are allowed. */
export const ascends = (records: ReadonlyArray<{ readonly id: number | null }>): boolean => {
  let last = 0
  for (const { id } of records) {
    if (id !== null && id < last) return false
    last = id ?? last
  }
  return true
}
