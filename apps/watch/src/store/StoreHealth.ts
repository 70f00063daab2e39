/**
 * Whether the store takes what it is given, as the writes show it: a write that fails is tried again by whoever made it, and each
 * alone would not know that the disk is full.
 */
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { fromSqlError, type StoreFailed, type StoreFault } from "./StoreFailed.ts"

/** What keeps the store from being written. */
export interface StoreTrouble {
  readonly failure: StoreFailed
  readonly sinceMillis: number
}

/**
 * A trouble is over after a write, and no failure for so long: longer than any write waits before it is tried again, a locked store
 * included. On a full disk a small write may succeed between two large ones that fail.
 */
const quietMillis = 8000

/** Facts of the file, the disk or the server; any other is one of the program, or of who owns an account. */
const ofTheFile: ReadonlySet<StoreFault> = new Set([
  "full",
  "moved",
  "damaged",
  "unwritable",
  "unreadable",
  "busy",
  "denied",
  "unavailable",
  "readOnly"
])

interface Failing extends StoreTrouble {
  readonly lastMillis: number
}

/**
 * `renew`: drops the connections to the server. Those that were made while it took no writes, or to a server that has been replaced, may
 * take none for as long as they live.
 */
export const makeStoreHealth = (renew: Effect.Effect<void>) => {
  let failing: Failing | null = null

  const watched = <A, R>(write: Effect.Effect<A, StoreFailed, R>): Effect.Effect<A, StoreFailed, R> =>
    Effect.tapError(
      write,
      Effect.fnUntraced(function* (failure) {
        const now = yield* Clock.currentTimeMillis
        if (ofTheFile.has(failure.fault))
          failing = { failure, sinceMillis: failing?.sinceMillis ?? now, lastMillis: now }
        if (failure.fault === "readOnly") yield* renew
      })
    ).pipe(
      Effect.tap(() =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (failing !== null && Math.abs(now - failing.lastMillis) > quietMillis) failing = null
        })
      )
    )

  return { watched, health: Effect.sync((): StoreTrouble | null => failing) }
}

/** Writes down when the process that has the store was last seen. */
export const noteTurn = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* sql`UPDATE process SET seen_at = ${yield* Clock.currentTimeMillis} WHERE slot = 1`
}, Effect.mapError(fromSqlError))
