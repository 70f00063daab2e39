/**
 * The other processes on the same server store: what this one tells them, and what they may have done meanwhile.
 */
import { Context, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { StoreFailed } from "./StoreFailed.ts"

export interface Peers {
  /** The name of this process. */
  readonly self: string
  /** Wakes the readers of the others, when the transaction is committed that it is part of. */
  readonly announce: Effect.Effect<unknown, SqlError>
}

/** What a store adds that several processes have at once. */
export class SharedStore extends Context.Service<
  SharedStore,
  Peers & {
    /** Calls back whenever one of the others may have written something. */
    readonly listen: (onNews: () => void) => Effect.Effect<never>
    /**
     * Makes sure that all processes have the same accounts and sinks in their config: an account may come to any of them, and one that
     * does not know it, or a sink, would leave it to nobody.
     */
    readonly join: (parts: ReadonlyArray<string>) => Effect.Effect<void, StoreFailed>
    /** Drops the connections to the server: each is made anew when it is needed. */
    readonly renew: Effect.Effect<void>
    /** The names of the processes that were heard of of late. */
    readonly processes: Effect.Effect<ReadonlyArray<string>, SqlError>
  }
>()("@berthkit/watch/store/SharedStore") {}

/** Of a store that one process has at a time. */
export const noPeers: Peers = { self: String(process.pid), announce: Effect.void }

/** What people order of a sink. Whoever delivers to it begins anew then, because its rows are not as they were left. */
export const makeOrders = (sql: SqlClient.SqlClient, shared: SharedStore["Service"] | null) => ({
  /** Part of the transaction that does it. */
  note: (sink: string): Effect.Effect<unknown, SqlError> =>
    shared === null
      ? Effect.void
      : Effect.andThen(sql`UPDATE sink SET orders = orders + 1 WHERE name = ${sink}`, shared.announce),
  /** How many there were so far; 0 where only this process takes some. */
  count: (sink: string): Effect.Effect<number, SqlError> =>
    shared === null
      ? Effect.succeed(0)
      : Effect.map(sql<{ orders: number }>`SELECT orders FROM sink WHERE name = ${sink}`, ([row]) => row?.orders ?? 0)
})

export type Orders = ReturnType<typeof makeOrders>
