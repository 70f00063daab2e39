/**
 * Which page to ask for next while a list is read. Pages are ranges at multiples of their size, and the list may move
 * beneath them: a node that is deleted moves all later ones forward, and the first of the next page into the page that was
 * just read. So each range begins at or before the last node seen; with ids that ascend, a range that begins with an id
 * already seen has missed nothing.
 */
import type { Node } from "../../domain/Node.ts"

/**
 * A page of the list, as the service counts: `perPage` nodes from position `start`, which is 0 for the first. Without a
 * number it is the one that the service gives of itself.
 */
export interface PageRange {
  readonly page: number | undefined
  readonly perPage: number
  readonly start: number
}

/** A page of the list, and whether its envelope says that it is the only one. */
export interface Page {
  readonly nodes: ReadonlyArray<Node>
  readonly isWhole: boolean
}

/** Sizes tried, as a share of the largest: smaller ones gain less than their better fit is worth. */
const minShare = 0.6

/**
 * The range that contains position `offset - 1` and reaches furthest beyond it. `largest` is the largest page the service
 * is known to give; where that is so small that no size fits, the range begins with the next position.
 */
export const rangeAt = (offset: number, largest: number): PageRange => {
  // Where no size fits, all of them divide the position.
  let best = alignedAt(offset, largest)
  let reach = offset
  for (let perPage = largest; perPage >= Math.max(2, Math.floor(largest * minShare)); perPage--) {
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
