/**
 * A cursor is a position in the log of the events of all accounts. The store gives each event the next position, so a
 * cursor is one number, however many accounts there are. Programs store the text of a cursor and return it unchanged.
 */
import { Option } from "effect"
import { daemonAccount } from "./DaemonFact.ts"

/** The position of the last event that was read. */
export type Cursor = number

/** Before every event. */
export const beginning: Cursor = 0

/** The text of a cursor. It is empty if no events were read. */
export const formatCursor = (cursor: Cursor): string => (cursor === beginning ? "" : String(cursor))

/** None if the text is not a cursor. The empty text is the beginning. */
export const parseCursor = (text: string): Option.Option<Cursor> => {
  if (text === "") return Option.some(beginning)
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Option.some(Number(text)) : Option.none()
}

/** What is wrong with a string that is not a cursor. */
export const cursorProblem = (text: string): string => `${text.length > 50 ? "This" : text} is not a cursor.`

/**
 * Where a sink starts in an account that is new to it: at the end, so only new events follow. In the daemon's own
 * account a sink starts at the first event instead, because that account's few events concern everybody, and it usually
 * appears after the sink.
 */
export const startOf = (account: string, end: number): number => (account === daemonAccount ? 0 : end)
