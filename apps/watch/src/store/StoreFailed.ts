/**
 * Why the store cannot do what it was asked for: a fact of the file or the server, in one sentence with a hint.
 */
import { Data } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { type SqliteFault, sqliteFault } from "@berth/sql-sqlite/sqliteFault"

/**
 * `inUse`: another `run` owns it. `newer`: a newer version of the program made it. `unavailable`: a server that cannot be reached.
 * `lost`: another process owns the account now. `statement`: anything else, which is a fault of the program.
 */
export type StoreFault = SqliteFault | "inUse" | "newer" | "unavailable" | "lost" | "statement"

const sentences: Readonly<Record<StoreFault, readonly [message: string, hint: string]>> = {
  full: ["The disk of the store is full", "Make room on that disk; the daemon goes on where it stopped."],
  damaged: ["The store is damaged", "Put a backup in its place. Nothing starts over from an empty store by itself."],
  unwritable: ["The store cannot be written", "Check who owns the file and its folder."],
  unreadable: ["The store cannot be opened", "Check the path, and who may read it."],
  busy: ["The store is locked by another program", "End the program that holds the lock."],
  inUse: ["The store is in use", "Stop the other berth-watch, or name another store."],
  newer: ["The store was made by a newer berth-watch", "Use that version, or a backup from before."],
  unavailable: ["The store cannot be reached", "Check the address and the network."],
  lost: ["Another process owns the account now", "Nothing is lost: that process goes on."],
  statement: ["The store refused a statement", "This is a fault of berth-watch."]
}

export class StoreFailed extends Data.TaggedError("StoreFailed")<{
  readonly fault: StoreFault
  /** In the words of whatever refused. */
  readonly detail: string
}> {
  override get message(): string {
    return `${sentences[this.fault][0]}: ${this.detail.replace(/\.$/, "")}.`
  }
  get hint(): string {
    return sentences[this.fault][1]
  }
}

export const fromSqlError = (error: SqlError): StoreFailed => {
  const unavailable = error.reason._tag === "ConnectionError" ? "unavailable" : "statement"
  return new StoreFailed({ fault: sqliteFault(error) ?? unavailable, detail: error.message })
}

/** Faults that time or a person may end while the daemon waits; after any other it cannot go on. */
export const mayPass = ({ fault }: StoreFailed): boolean =>
  fault === "full" || fault === "busy" || fault === "unavailable"
