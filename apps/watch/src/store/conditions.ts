/**
 * What is wrong with accounts and receivers, as the owner of each account has met it: other processes and commands show it from here. It stays
 * until an owner of the account knows better.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Ownership } from "./ownership.ts"

/** The receiver of a sink that fails for the events of an account. */
export interface FailingReceiver {
  readonly state: "retrying" | "failing" | "down"
  readonly reason: string
  readonly sinceMillis: number
}

/** Where it fails. */
export interface FailingAt {
  readonly sink: string
  readonly account: string
  readonly receiver: FailingReceiver
}

/** A receiver as it is kept; null once it is well. */
export interface KeptReceiver extends Omit<FailingAt, "receiver"> {
  readonly receiver: FailingReceiver | null
}

export const makeConditions = (sql: SqlClient.SqlClient, { stillOwned }: Ownership) => ({
  /** Those that fail. */
  failingReceivers: sql<{ sink: string; account: string; receiver: string }>`SELECT sink, account, receiver
    FROM sink_cursor WHERE receiver IS NOT NULL ORDER BY sink, account`.pipe(
    Effect.map((rows) =>
      rows.map(({ receiver, ...row }): FailingAt => ({ ...row, receiver: JSON.parse(receiver) as FailingReceiver }))
    )
  ),
  /** Keeps what changed of accounts that this process still owns. `conditions`: JSON by account. */
  noteConditions: Effect.fn("Store.noteConditions")(function* (
    conditions: ReadonlyMap<string, string>,
    receivers: ReadonlyArray<KeptReceiver>
  ) {
    const owned = yield* stillOwned(new Set([...conditions.keys(), ...receivers.map(({ account }) => account)]))
    for (const [account, condition] of conditions) {
      if (owned.has(account)) yield* sql`UPDATE account SET condition = ${condition} WHERE name = ${account}`
    }
    for (const { account, receiver, sink } of receivers) {
      if (!owned.has(account)) continue
      const kept = receiver === null ? null : JSON.stringify(receiver)
      yield* sql`UPDATE sink_cursor SET receiver = ${kept} WHERE sink = ${sink} AND account = ${account}`
    }
  }, sql.withTransaction)
})
