/**
 * Faults of a database file, by SQLite's error codes. Effect classifies only errors of statements, and reports these faults as unknown
 * errors.
 */
import type { SqlError } from "effect/sql/SqlError"

/**
 * `full`: the disk is full. `damaged`: the content of the file is damaged. `unwritable`: permissions or a read-only file
 * system forbid writing. `unreadable`: the file cannot be opened, or the disk fails. `busy`: another connection holds a
 * lock. `moved`: the path leads to another file, or to none.
 */
export type SqliteFault = "moved" | "full" | "damaged" | "unwritable" | "unreadable" | "busy"

/** SQLite's code for `moved`, a kind of `READONLY`. */
export const movedCode = 1032

/** The faults by primary code, which is the low byte of an extended code. */
const faults = new Map<number, SqliteFault>([
  [5, "busy"],
  [6, "busy"],
  [8, "unwritable"],
  [10, "unreadable"],
  [11, "damaged"],
  [13, "full"],
  [14, "unreadable"],
  [26, "damaged"]
])

/** The fault of the file that an error reports; null if the error is about something else. */
export const sqliteFault = (error: SqlError): SqliteFault | null => {
  const { cause } = error.reason
  if (typeof cause !== "object" || cause === null || !("errcode" in cause)) return null
  if (cause.errcode === movedCode) return "moved"
  return typeof cause.errcode === "number" ? (faults.get(cause.errcode & 0xff) ?? null) : null
}
