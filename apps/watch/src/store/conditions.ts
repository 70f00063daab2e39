/**
 * The troubles of accounts and receivers, as the owner of each account has found them. They are stored so that other processes and
 * commands can show them, and stay until an owner finds something else.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Ownership } from "./ownership.ts"

/** The trouble of a sink's receiver with the events of an account. */
export interface FailingReceiver {
  readonly state: "retrying" | "failing" | "down"
  readonly reason: string
  readonly sinceMillis: number
}

/** A failing receiver, with the sink and the account. */
export interface FailingAt {
  readonly sink: string
  readonly account: string
  readonly receiver: FailingReceiver
}

/** A change to store; `receiver` is null once the receiver is well again. */
export interface KeptReceiver extends Omit<FailingAt, "receiver"> {
  readonly receiver: FailingReceiver | null
}

export const makeConditions = (sql: SqlClient.SqlClient, { stillOwned }: Ownership) => ({
  /** The failing receivers. */
  failingReceivers: sql<{ sink: string; account: string; receiver: string }>`SELECT sink, account, receiver
    FROM sink_cursor WHERE receiver IS NOT NULL ORDER BY sink, account`.pipe(
    Effect.map((rows) =>
      rows.map(({ receiver, ...row }): FailingAt => ({ ...row, receiver: JSON.parse(receiver) as FailingReceiver }))
    )
  ),
  /** Stores changed conditions of accounts that this process still owns. `conditions`: JSON by account. */
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
