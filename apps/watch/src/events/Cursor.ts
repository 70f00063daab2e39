/**
 * A cursor: a position in the events of all accounts, that is how far each account's events were read. Written as
 * `name:sequence,…`; programs store it and return it unchanged.
 */
import { Option } from "effect"
import { daemonAccount } from "./DaemonFact.ts"

/**
 * The last sequence that was read, by account. The empty cursor is before every event; an account that a non-empty cursor does
 * not name starts now, see `complete`.
 */
export type Cursor = ReadonlyMap<string, number>

/** Before every event. */
export const beginning: Cursor = new Map()

/** More than a daemon watches, in a text that still fits into a header. */
const maxAccounts = 2000

const place = /^([\w.@-]{1,64}):(0|[1-9]\d{0,15})$/

/**
 * Accounts in the order of their names, so that one position has only one text. An account without read events is named as
 * well, so that its events come after the cursor. If no events were read at all, the text is empty.
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
 * A cursor that names every account: an account that was missing starts now, at its end. Only the daemon's own account starts
 * at its first event: its few events concern everybody, and it usually appears after the cursor was written.
 */
export const complete = (cursor: Cursor, ends: Cursor): Cursor => {
  if (cursor.size === 0) return new Map(Array.from(ends.keys(), (account) => [account, 0]))
  const unnamed = Array.from(ends).filter(([account]) => !cursor.has(account))
  return new Map([...cursor, ...unnamed.map(([account, end]) => [account, startOf(account, end)] as const)])
}

/** Where an account starts that a cursor does not name. */
export const startOf = (account: string, end: number): number => (account === daemonAccount ? 0 : end)

/** The cursor after an event. */
export const advance = (cursor: Cursor, account: string, sequence: number): Cursor =>
  new Map(cursor).set(account, Math.max(sequence, cursor.get(account) ?? 0))

/** Whether an event is after the cursor, and therefore unread. */
export const isAfter = (cursor: Cursor, account: string, sequence: number): boolean =>
  sequence > (cursor.get(account) ?? 0)
