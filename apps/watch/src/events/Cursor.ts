/**
 * A place in the events of all accounts: how far each account's were read. Written as `name:sequence,…`; programs keep it and give
 * it back as it is.
 */
import { Option } from "effect"

/** The last sequence that was read, by account; an account that is missing was not read at all. */
export type Cursor = ReadonlyMap<string, number>

/** Before every event. */
export const beginning: Cursor = new Map()

/** More than a daemon watches, and a text that still fits into a header. */
const maxAccounts = 2000

const place = /^([\w.@-]{1,64}):(0|[1-9]\d{0,15})$/

/** The accounts in the order of their names, so that one place has one text. */
export const formatCursor = (cursor: Cursor): string =>
  Array.from(cursor)
    .filter(([, sequence]) => sequence > 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([account, sequence]) => `${account}:${sequence}`)
    .join(",")

/** None when the text is not a cursor. The empty text is the beginning. */
export const parseCursor = (text: string): Option.Option<Cursor> => {
  if (text === "") return Option.some(beginning)
  const places = text.split(",", maxAccounts + 1).map((each) => place.exec(each))
  if (places.length > maxAccounts || places.some((found) => found === null)) return Option.none()
  const cursor = new Map(places.map((found) => [found![1]!, Number(found![2])]))
  const isExact = cursor.size === places.length && Array.from(cursor.values()).every(Number.isSafeInteger)
  return isExact ? Option.some(cursor) : Option.none()
}

/** The cursor behind an event. */
export const advance = (cursor: Cursor, account: string, sequence: number): Cursor =>
  new Map(cursor).set(account, Math.max(sequence, cursor.get(account) ?? 0))

/** Whether an event is behind the cursor, and so was not read. */
export const isAfter = (cursor: Cursor, account: string, sequence: number): boolean =>
  sequence > (cursor.get(account) ?? 0)
