/**
 * One request for the end of the list: where ids ascend, new nodes are there long before a sweep comes by. Pure.
 */
import { pageSize } from "@berth/core/api/Routes"
import { rangeAt, type PageRange } from "@berth/core/client/listing/PageRange"
import type { Exchange, PageRead } from "../diff/Observation.ts"
import { type End, pageRead, type Record } from "./Sweep.ts"

/** So many of the newest nodes are on the page: new ones are in transition. It has places for twenty more at least. */
const known = 40

/** The page with the last records that are known, and as many places behind them as possible. */
export const tailPage = ({ offset }: End): PageRange => rangeAt(Math.max(1, offset - known + 1), pageSize.maximum)

/** What the page showed, and where the list ends now. */
export interface TailStep {
  readonly page: PageRead
  readonly end: End
  /** Whether it has to be asked for again at once: the list goes on behind the page, or ends before it. */
  readonly isOpen: boolean
}

/** Takes the page that `tailPage` asked for. */
export const takeTail = (end: End, exchange: Exchange, records: ReadonlyArray<Record>): TailStep => {
  const range = tailPage(end)
  const ids = records.flatMap(({ id }) => (id === null ? [] : [id as number]))
  // Nodes before the page were deleted, and the end moved forward past it.
  const isBehind = range.start > 0 && (ids.length === 0 || ids[0]! > end.lastId)
  const isFull = records.length >= range.perPage
  const page = pageRead(exchange, records, null, !isBehind && !isFull)
  if (isBehind) {
    const offset = Math.max(1, range.start - Math.floor(pageSize.maximum / 2))
    return { page, end: { ...end, offset, firstId: Infinity }, isOpen: true }
  }
  const lastId = ids.reduce((max, id) => Math.max(max, id), end.lastId)
  const firstId = isFull ? Infinity : (ids[0] ?? Infinity)
  return { page, end: { offset: range.start + records.length, lastId, firstId }, isOpen: isFull }
}
