/**
 * What is wrong with the file of a database, by SQLite's error codes. Effect's own classification covers errors of statements and
 * leaves these unknown.
 */
import type { SqlError } from "effect/sql/SqlError"

/**
 * `full`: the disk. `damaged`: the content. `unwritable`: permissions, or a read-only file system. `unreadable`: the file cannot
 * be opened, or the disk fails. `busy`: another connection holds a lock on it. `moved`: another file, or none, has its name now.
 */
export type SqliteFault = "moved" | "full" | "damaged" | "unwritable" | "unreadable" | "busy"

/** SQLite's own code for it: a kind of `READONLY`. */
export const movedCode = 1032

/** By primary code: the low byte of an extended one. */
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

/** The fault of the file that an error reports; null when it is about something else. */
export const sqliteFault = (error: SqlError): SqliteFault | null => {
  const { cause } = error.reason
  if (typeof cause !== "object" || cause === null || !("errcode" in cause)) return null
  if (cause.errcode === movedCode) return "moved"
  return typeof cause.errcode === "number" ? (faults.get(cause.errcode & 0xff) ?? null) : null
}
