/**
 * Reads the end of the list: the nodes that are newer than an index, in one or two requests while little has changed. New nodes
 * are at the end, because ids ascend, and nodes move towards the beginning only, when others are deleted. So one page around the
 * old end most often holds the last known node and everything after it. Whatever contradicts the index is `Unclear`: then the
 * whole list is read. Pure: `begin` and `take` name the next page, and the caller reads it.
 */
import { ascends, type NumberedRange, rangeAround, rangeAt } from "@berthkit/core/client/listing/PageRange"
import type { Node } from "@berthkit/core/domain/Node"
import { isSame, type NodeIndex } from "./NodeIndex.ts"

export type Step =
  | { readonly _tag: "Read"; readonly range: NumberedRange; readonly state: State }
  /** The nodes above `completeTo`, in the order of the list, and how many nodes the list has. */
  | { readonly _tag: "Ended"; readonly nodes: ReadonlyArray<Node>; readonly length: number }
  | { readonly _tag: "Unclear" }

/** How far the end was read. */
export interface State {
  readonly index: NodeIndex
  /** Ids of the index in their order, which no node of it is behind in the list. */
  readonly ids: ReadonlyArray<number>
  readonly found: ReadonlyMap<number, Node>
  /** Pages to go back from one that is empty, doubled each time. */
  readonly stepBack: number
  /** A position that was behind the end when it was read: nodes only move towards the beginning. */
  readonly emptyFrom: number
  /** The first page that had nodes; what is read begins with it. */
  readonly begin: { readonly range: NumberedRange; readonly firstId: number } | undefined
  /** Id of the last node that was read going forward. */
  readonly lastId: number
  /** Length of the list, once its end is read. */
  readonly length: number | undefined
  readonly pagesLeft: number
}

const unclear: Step = { _tag: "Unclear" }

/** The range that is so many pages before another. */
const before = ({ page, perPage, start }: NumberedRange, pages: number): NumberedRange => ({
  page: Math.max(1, page - pages),
  perPage,
  start: Math.max(0, start - pages * perPage)
})

/** Begins with an index that finds names. */
export const begin = (index: NodeIndex): Step => ({
  _tag: "Read",
  range: rangeAround(index.length, index.maxPage),
  state: {
    index,
    ids: Array.from(index.nodes.keys())
      .filter((id) => id <= index.completeTo)
      .toSorted((a, b) => a - b),
    found: new Map(),
    stepBack: 1,
    emptyFrom: Number.POSITIVE_INFINITY,
    begin: undefined,
    lastId: 0,
    length: undefined,
    pagesLeft: 8 + Math.ceil((2 * index.length) / index.maxPage)
  }
})

/** How many ids of the sorted list are lower. */
const rank = (ids: ReadonlyArray<number>, id: number): number => {
  let [low, high] = [0, ids.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ids[middle]! < id) low = middle + 1
    else high = middle
  }
  return low
}

/** Whether this can be the requested page of the list that the index is of. */
const fits = ({ ids, index }: State, { perPage, start }: NumberedRange, page: ReadonlyArray<Node>): boolean =>
  page.length <= perPage &&
  ascends(page) &&
  page.every((node, i) => {
    if (node.id > index.completeTo) return true
    const known = index.nodes.get(node.id)
    return known !== undefined && isSame(known, node) && rank(ids, node.id) >= start + i
  })

/** Interprets the page that was requested. */
export const take = (state: State, range: NumberedRange, page: ReadonlyArray<Node>): Step => {
  const { index, pagesLeft, stepBack } = state
  if (pagesLeft === 0 || !fits(state, range, page)) return unclear
  const [first] = page
  const last = page.at(-1)
  const read = (next: NumberedRange, change: Partial<State>): Step => ({
    _tag: "Read",
    range: next,
    state: { ...state, ...change, pagesLeft: pagesLeft - 1 }
  })
  if (first === undefined || last === undefined) {
    return state.begin === undefined && range.start > 0
      ? read(before(range, stepBack), { stepBack: 2 * stepBack, emptyFrom: range.start })
      : unclear
  }
  const found = new Map(state.found)
  for (const node of page) if (node.id > index.completeTo) found.set(node.id, node)
  const isBack = state.length !== undefined
  // Going forward a page begins with what was read, going back it is followed by that.
  if (isBack ? page.length < range.perPage : state.begin !== undefined && first.id > state.lastId) return unclear
  const begun = isBack || state.begin === undefined ? { range, firstId: first.id } : state.begin
  const offset = range.start + page.length
  if (!isBack && page.length === range.perPage && offset < state.emptyFrom) {
    const next = rangeAt(offset, index.maxPage)
    // Pages that are too small do not overlap.
    if (next.start >= offset) return unclear
    return read(next, { found, begin: begun, lastId: last.id })
  }
  const length = state.length ?? offset
  return begun.firstId > index.completeTo && begun.range.start > 0
    ? read(before(begun.range, 1), { found, begin: begun, length })
    : { _tag: "Ended", nodes: Array.from(found.values()).toSorted((a, b) => a.id - b.id), length }
}
