/**
 * Whether the store accepts writes, judged by all writes together. Each caller only retries its own write, so no single caller
 * would notice that the disk is full.
 */
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { fromSqlError, type StoreFailed, type StoreFault } from "./StoreFailed.ts"

/** What prevents writes to the store. */
export interface StoreTrouble {
  readonly failure: StoreFailed
  readonly sinceMillis: number
}

/**
 * A trouble is over if a write succeeds and no write has failed for this long. On a full disk, small writes may succeed
 * between large writes that fail, so this time is longer than the longest pause before a retry, including the pause for
 * a locked store.
 */
const quietMillis = 8000

/** Faults of the file, the disk or the server. Other faults are about the program, or about the ownership of an account. */
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
 * `renew` drops the connections to the server. A connection from a time when the server rejected writes, or to a server
 * that was replaced since, may reject writes until it is closed.
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

/** Records that the process that has the store is alive now. */
export const noteTurn = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* sql`UPDATE process SET seen_at = ${yield* Clock.currentTimeMillis} WHERE slot = 1`
}, Effect.mapError(fromSqlError))
