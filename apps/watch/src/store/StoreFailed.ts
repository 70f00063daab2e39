/** Why the store cannot be used. Each fault has a sentence about the file or the server, and a hint. */
import { Data } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { type SqliteFault, sqliteFault } from "@berthkit/sql-sqlite/sqliteFault"

/** The sentence and the hint of each fault: of SQLite, of PostgreSQL, and our own. */
const sentences = {
  full: ["The disk of the store is full", "Make room on that disk; the daemon continues where it stopped."],
  damaged: ["The store is damaged", "Restore a backup. The daemon never starts over with an empty store by itself."],
  moved: [
    "The file of the store is gone",
    "Restore the file, and the daemon continues; or restart the daemon, which then forgets what it has reported."
  ],
  unwritable: ["The store cannot be written", "Check who owns the file and its folder."],
  unreadable: ["The store cannot be opened", "Check the path, and who may read it."],
  busy: ["The store is locked by another program", "End the program that holds the lock."],
  inUse: ["The store is in use", "Stop the other berth-watch, or use another store."],
  otherSchema: [
    "The schema of the store is not that of this berth-watch",
    "Use the version that made it, or use another store. Nothing was changed in it."
  ],
  unavailable: ["The store cannot be reached", "Check the address and the network."],
  readOnly: [
    "The server of the store rejects writes",
    "Wait until it is the primary, or put the primary into the address; the daemon then continues."
  ],
  denied: [
    "The store refuses the user",
    "Check the name and the password, in the address or in PGUSER and PGPASSWORD, and the rights of that user: berth-watch migrate prints those that it needs."
  ],
  tooOld: ["The server of the store is too old", "Use PostgreSQL 14 or newer."],
  encoding: ["The database of the store cannot store every character", "Use a database with the encoding UTF8."],
  occupied: ["The schema of the store cannot be used", "Put another one into the address, such as ?schema=watch."],
  pooler: [
    "The store is behind a pooler that does not keep the settings of a connection",
    "Connect to PostgreSQL directly: a process has at most eight connections, and needs no pooler."
  ],
  differs: [
    "The processes on the store have different configs",
    "Give each of them the same config; to change it, stop them all and start them again."
  ],
  unmigrated: [
    "The store does not have the tables of this version",
    "Run berth-watch migrate on it, or start the daemon."
  ],
  lost: ["Another process owns the account now", "Nothing is lost: that process continues."],
  repeated: ["An event has the id of an earlier one", "This is a bug in berth-watch."],
  statement: ["The store refused a statement", "This is a bug in berth-watch."]
} satisfies Record<SqliteFault | (string & {}), readonly [message: string, hint: string]>

/**
 * `inUse`: another `run` owns the store. `otherSchema`: another version of the program, or another program, made the tables.
 * `unavailable`: the server cannot be reached. `readOnly`: the server accepts no writes. `denied`, `tooOld`, `encoding`,
 * `pooler`, `occupied`, `differs`, `unmigrated`: the server cannot be used. `lost`: another process owns the account now.
 * `repeated`: the event exists already. `statement`: anything else, which is a bug in the program.
 */
export type StoreFault = keyof typeof sentences

export class StoreFailed extends Data.TaggedError("StoreFailed")<{
  readonly fault: StoreFault
  /** The message of the database, or what exactly is wrong. */
  readonly detail: string
}> {
  override get message(): string {
    return `${sentences[this.fault][0]}: ${this.detail.replace(/\.$/, "")}.`
  }
  get hint(): string {
    return sentences[this.fault][1]
  }
}

/** The fault for an SQLSTATE of PostgreSQL, by its full code or its class. */
const faultsOfServer = new Map<string, StoreFault>([
  ["08", "unavailable"],
  ["28", "denied"],
  ["3D", "denied"],
  // The user has no access to the schema.
  ["3F", "denied"],
  ["42501", "denied"],
  // A table is missing.
  ["42P01", "unmigrated"],
  // A table of another program has the name, or the name is reserved by the server.
  ["42P07", "occupied"],
  ["42939", "occupied"],
  ["53100", "full"],
  ["53", "unavailable"],
  ["55P03", "busy"],
  ["40", "busy"],
  ["57", "unavailable"],
  // The server is a standby that was not promoted yet.
  ["25006", "readOnly"],
  ["58", "unavailable"]
])

const faultOf = ({ reason }: SqlError): StoreFault | null => {
  if (reason._tag === "ConnectionError") return "unavailable"
  // If the server asks for a password and there is none, the error has no SQLSTATE.
  if (reason._tag === "AuthenticationError") return "denied"
  if (reason._tag === "UniqueViolation" && eventIdKeys.has(reason.constraint)) return "repeated"
  const { cause } = reason
  if (typeof cause !== "object" || cause === null || !("code" in cause)) return null
  const state = String(cause.code)
  return faultsOfServer.get(state) ?? faultsOfServer.get(state.slice(0, 2)) ?? null
}

/** The names in PostgreSQL and SQLite of the key that makes event ids unique. */
const eventIdKeys: ReadonlySet<string> = new Set(["event_id_key", "event.id"])

/** The message of the server or the network; the driver's own message is too general. */
const detailOf = ({ message, reason: { cause } }: SqlError): string =>
  cause instanceof Error && cause.message !== "" ? cause.message : message

/** Converts a database failure into one of the store; returns a store failure unchanged. */
export const fromSqlError = (error: SqlError | StoreFailed): StoreFailed => {
  if (error._tag === "StoreFailed") return error
  const fault = sqliteFault(error)
  return fault === null
    ? new StoreFailed({ fault: faultOf(error) ?? "statement", detail: detailOf(error) })
    : new StoreFailed({ fault, detail: error.message })
}

const passing: ReadonlySet<StoreFault> = new Set(["full", "denied", "busy", "unavailable", "readOnly", "moved"])

/** Whether waiting may help, because the fault may pass or a person may fix it. After any other fault the daemon cannot continue. */
export const mayPass = ({ fault }: StoreFailed): boolean => passing.has(fault)
