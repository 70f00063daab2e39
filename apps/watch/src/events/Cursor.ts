/**
 * A cursor: a position in the events of all accounts. For each account it says how far the events were read. Its text is
 * `name:sequence,…`; programs store the text and return it unchanged.
 */
import { Option } from "effect"
import { daemonAccount } from "./DaemonFact.ts"

/**
 * The last sequence that was read, by account. The empty cursor is before every event. If a non-empty cursor does not name an
 * account, reading starts at the account's end; see `complete`.
 */
export type Cursor = ReadonlyMap<string, number>

/** Before every event. */
export const beginning: Cursor = new Map()

/** Maximum number of accounts in a cursor. */
const maxAccounts = 2000

const place = /^([\w.@-]{1,64}):(0|[1-9]\d{0,15})$/

/**
 * The text of a cursor. Accounts are in the order of their names, so each position has only one text. Accounts without read
 * events are included, because otherwise their first events would be skipped. If no events were read at all, the text is empty.
 */
export const formatCursor = (cursor: Cursor): string =>
  (Array.from(cursor.values()).some((sequence) => sequence > 0) ? Array.from(cursor) : [])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([account, sequence]) => `${account}:${sequence}`)
    .join(",")

/** None if the text is not a cursor. The empty text is the beginning. */
export const parseCursor = (text: string): Option.Option<Cursor> => {
  if (text === "") return Option.some(beginning)
  const places = text.split(",", maxAccounts + 1).map((each) => place.exec(each))
  if (places.length > maxAccounts || places.some((found) => found === null)) return Option.none()
  const cursor = new Map(places.map((found) => [found![1]!, Number(found![2])]))
  const isExact = cursor.size === places.length && Array.from(cursor.values()).every(Number.isSafeInteger)
  return isExact ? Option.some(cursor) : Option.none()
}

/**
 * A cursor that names every account. Accounts that were missing start at their end, so only new events follow. The daemon's own
 * account starts at its first event instead: its few events concern everybody, and it usually appears after the cursor was
 * written.
 */
export const complete = (cursor: Cursor, ends: Cursor): Cursor => {
  if (cursor.size === 0) return new Map(Array.from(ends.keys(), (account) => [account, 0]))
  const unnamed = Array.from(ends).filter(([account]) => !cursor.has(account))
  return new Map([...cursor, ...unnamed.map(([account, end]) => [account, startOf(account, end)] as const)])
}

/** Where reading starts in an account that a cursor does not name. */
export const startOf = (account: string, end: number): number => (account === daemonAccount ? 0 : end)

/** The cursor after an event. */
export const advance = (cursor: Cursor, account: string, sequence: number): Cursor =>
  new Map(cursor).set(account, Math.max(sequence, cursor.get(account) ?? 0))

/** Whether an event is after the cursor, and therefore unread. */
export const isAfter = (cursor: Cursor, account: string, sequence: number): boolean =>
  sequence > (cursor.get(account) ?? 0)
