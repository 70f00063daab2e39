/** Reads the end (tail) of the list: if ids ascend, new nodes appear there long before a sweep reaches them. Pure. */
import { pageSize } from "@berthkit/core/api/Routes"
import type { ListRecord } from "@berthkit/core/client/listing/NodePage"
import { ascends, type PageRange, rangeAt } from "@berthkit/core/client/listing/PageRange"
import type { Exchange, PageRead } from "../diff/Observation.ts"
import { type End, pageRead } from "./Sweep.ts"

/** The page shows this many of the newest nodes, because new nodes are in transition. It has room for at least twenty more. */
const known = 40

/** The page with the last known records, and as much room after them as possible. */
export const tailPage = ({ offset }: End): PageRange => rangeAt(Math.max(1, offset - known + 1), pageSize.maximum)

/** The page as an observation, and where the list ends now. */
export interface TailStep {
  readonly page: PageRead
  /** Null if the list no longer ascends. */
  readonly end: End | null
  /** Whether to look for the end again at once, because the list continues after the page, or ends before it. */
  readonly isOpen: boolean
}

/** Processes the page that `tailPage` asked for. */
export const takeTail = (end: End, exchange: Exchange, records: ReadonlyArray<ListRecord>): TailStep => {
  const range = tailPage(end)
  const ids = records.flatMap(({ id }) => (id === null ? [] : [id as number]))
  if (!ascends(records)) {
    return { page: pageRead(exchange, records, null, false), end: null, isOpen: false }
  }
  // Nodes before the page were deleted, so the list ends before the page.
  const isBehind = range.start > 0 && (ids.length === 0 || ids[0]! > end.lastId)
  const isFull = records.length >= range.perPage
  const page = pageRead(exchange, records, null, !isBehind && !isFull)
  if (isBehind) return searching(page, range, before(end, range.start))
  const offset = range.start + records.length
  const newestId = ids.reduce((max, id) => Math.max(max, id), 0)
  if (isFull && newestId <= end.lastId) return searching(page, range, behind(end, offset))
  const lastId = Math.max(end.lastId, newestId)
  const firstId = isFull ? Infinity : (ids[0] ?? Infinity)
  return { page, end: { offset, lastId, firstId }, isOpen: isFull }
}

/**
 * The next step of the search for the end. A step that asks for the same page again would never finish, so the search stops then; the
 * next sweep shows the end.
 */
const searching = (page: PageRead, seen: PageRange, end: End): TailStep => {
  const next = tailPage(end)
  const isStuck = next.page === seen.page && next.perPage === seen.perPage
  return isStuck ? { page, end: null, isOpen: false } : { page, end, isOpen: true }
}

/**
 * The list ends before `high`, because many nodes were deleted. The search goes back one step, and then halves the range,
 * because reading a thousand pages would use the share of an hour.
 */
const before = (end: End, high: number): End => {
  const { low: shown, step } = end.search ?? { low: 0, step: 0 }
  // The list is now shorter than an earlier page showed, or hides nodes.
  const low = shown < high ? shown : 0
  const offset = end.search === undefined ? high - pageSize.maximum / 2 : Math.floor((low + high) / 2)
  return { ...end, offset: Math.max(1, offset), firstId: Infinity, search: { low, high, step } }
}

/**
 * The list continues after `low`, a full page of known nodes. Nodes up to the end are known as well, so the search can skip
 * ahead without missing a new one.
 */
const behind = (end: End, low: number): End => {
  const { high: shown, step } = end.search ?? { high: null, step: 0 }
  // The list is longer again than an earlier page showed.
  const high = shown !== null && shown > low ? shown : null
  const offset = high === null ? low + step : Math.max(low, Math.floor((low + high) / 2))
  const next = high === null ? Math.max(pageSize.maximum, 2 * step) : step
  return { ...end, offset, firstId: Infinity, search: { low, high, step: next } }
}
