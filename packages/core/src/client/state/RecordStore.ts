/**
 * The interface of a store for an account's state: records by kind and key, and locks. On one machine the records are files; for several
 * machines they are rows of a database. Leases, proposals, commitments, the registry of fleets and the log of changes are such records. The
 * store does not look into a value: the code that writes a kind has its schema.
 */
import { Context, Data, type Effect, type Option } from "effect"

/** State cannot be read or written. No operation that depends on it may continue. */
export class StateFailed extends Data.TaggedError("StateFailed")<{
  /** Why, as the end of a sentence without its full stop: the message of the file system or of the database. It holds no secret. */
  readonly detail: string
  /** The code of the file system, such as `ENOSPC`; null if something else failed. */
  readonly code: string | null
  /** The file or folder, or the address of the database without the user name. Null if there is neither. */
  readonly path: string | null
  /** One sentence that says what to do about the failure. */
  readonly hint: string
  /** Whether a lock was lost because another process took it over while this process was suspended. In that case nothing was written. */
  readonly isLockLost: boolean
}> {
  override get message() {
    return `The state of berth cannot be kept: ${this.detail}.`
  }
}

/** A stored record. */
export interface StateRecord {
  readonly key: string
  /** A JSON object. Its field `version` is the version of the format of this kind of record. */
  readonly value: string
}

/** A lock that is held. A write that is given the lock succeeds only while the lock is held, however long the process was suspended. */
export interface StateLock {
  readonly name: string
  /** Fails if the lock is no longer held; otherwise renews it. Call it before a request that relies on the lock. */
  readonly confirm: Effect.Effect<void, StateFailed>
}

/**
 * Whether records of a kind, or a lock whose name begins with that kind, are about nodes. These are kept once for all API keys of a
 * service, project and location, because a new key is another account but has the same nodes.
 */
export const isOfNodes = (name: string): boolean => /^(fleet|commitment|change)(\.|$)/.test(name)

/** Keys of appended records begin with a time in milliseconds, padded so that all have the same number of digits. */
export const keyAt = (millis: number): string => String(Math.floor(Math.max(0, millis))).padStart(15, "0")

/** The time with which the key of an appended record begins, in milliseconds, by the clock of the store; `NaN` if it has none. */
export const millisOfKey = (key: string): number => Number.parseInt(key, 10)

/**
 * The state of one account. A kind is 1 to 40 small letters and dashes, such as `lease`. A key or the name of a lock is 1 to 200 letters,
 * digits, dots, dashes and underscores, and begins with a letter, a digit or an underscore. A write is safe when its effect ends: a crash
 * afterwards does not lose it, and nobody reads half of it.
 */
export interface RecordStore {
  /**
   * Where a record is or would be kept, as a string for people: the path of its file, or the record and the address of the database without
   * the user name.
   */
  readonly placeOf: (kind: string, key: string) => Effect.Effect<string, StateFailed>
  /** The SQL statement with which a person can remove a record from the database; undefined if the record is a file. */
  readonly statementOf: (kind: string, key: string) => Effect.Effect<string | undefined, StateFailed>
  readonly get: (kind: string, key: string) => Effect.Effect<Option.Option<string>, StateFailed>
  /**
   * The records of a kind, in order of their keys by code units; with `after`, only those whose keys come after it. A record that cannot be
   * read has an empty value.
   */
  readonly list: (kind: string, after?: string) => Effect.Effect<ReadonlyArray<StateRecord>, StateFailed>
  /**
   * The records of a kind that other accounts have in the same store, unsorted. A new API key is another account with the same nodes.
   * Unreadable records are left out.
   */
  readonly elsewhere: (kind: string) => Effect.Effect<ReadonlyArray<StateRecord>, StateFailed>
  /** Writes a record, replacing an existing one. */
  readonly put: (kind: string, key: string, value: string, lock?: StateLock) => Effect.Effect<void, StateFailed>
  /** Removes a record; a missing record is not a failure. */
  readonly remove: (kind: string, key: string, lock?: StateLock) => Effect.Effect<void, StateFailed>
  /**
   * Adds a record after all others of its kind, and removes the oldest so that `keep` remain. The store chooses the key so that keys sort
   * by time, and returns it. Two processes may append at once: both records are kept.
   */
  readonly append: (kind: string, value: string, keep: number) => Effect.Effect<string, StateFailed>
  /**
   * Runs `use` while no other process holds the lock of this name. It waits for its turn, and can be interrupted while it waits. A process
   * that has ended blocks others for a minute at most.
   */
  readonly withLock: (
    name: string
  ) => <A, E, R>(use: (lock: StateLock) => Effect.Effect<A, E, R>) => Effect.Effect<A, E | StateFailed, R>
}

/** The store of the account's state. Without a layer for it, nothing can be stored. */
export const RecordStore = Context.Reference<RecordStore | undefined>("@berthkit/core/client/state/RecordStore", {
  defaultValue: () => undefined
})
