/**
 * Which page to ask for next while a list is read. Pages are windows at multiples of their size, and the list may move
 * beneath them: a node that is deleted moves all later ones forward, and the first of the next page into the page that was
 * just read. So each window begins at or before the last node seen; with ids that ascend, a window that begins with an id
 * already seen has missed nothing.
 */

/**
 * A page of the list, as the service counts: `perPage` nodes from position `start`, which is 0 for the first. Without a
 * number it is the one that the service gives of itself.
 */
export interface Window {
  readonly page: number | undefined
  readonly perPage: number
  readonly start: number
}

/** Sizes tried, as a share of the largest: smaller ones gain less than their better fit is worth. */
const smallestShare = 0.6

/**
 * The window that contains position `offset - 1` and reaches furthest beyond it. `largest` is the largest page the service
 * is known to give; where that is so small that no size fits, the window begins with the next position.
 */
export const windowAt = (offset: number, largest: number): Window => {
  // Where no size fits, all of them divide the position.
  let best = alignedAt(offset, largest)
  let reach = offset
  for (let perPage = largest; perPage >= Math.max(2, Math.floor(largest * smallestShare)); perPage--) {
    const window = alignedAt(offset - 1, perPage)
    if (window.start + perPage <= reach) continue
    reach = window.start + perPage
    best = window
  }
  return best
}

/** The window of this size that contains position `offset`. */
export const alignedAt = (offset: number, perPage: number): Window => {
  const before = Math.floor(offset / perPage)
  return { page: before + 1, perPage, start: before * perPage }
}
