/** The other processes that use the same store in PostgreSQL: sends notifications to them, and notices their changes. */
import { Context, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { StoreFailed } from "./StoreFailed.ts"

export interface Peers {
  /** The name of this process. */
  readonly self: string
  /** Wakes the readers in the other processes, once the surrounding transaction is committed. */
  readonly announce: Effect.Effect<unknown, SqlError>
}

/** The additional functions of a store that several processes use at once. */
export class SharedStore extends Context.Service<
  SharedStore,
  Peers & {
    /** Calls back whenever another process may have written something. */
    readonly listen: (onNews: () => void) => Effect.Effect<never>
    /**
     * Ensures that all processes have the same accounts and sinks in their config. An account may be assigned to any process,
     * and a process that does not know the account or a sink would neglect it.
     */
    readonly join: (parts: ReadonlyArray<string>) => Effect.Effect<void, StoreFailed>
    /** Drops the connections to the server; new ones are made on demand. */
    readonly renew: Effect.Effect<void>
    /** The names of the processes that have shown recently that they are alive. */
    readonly processes: Effect.Effect<ReadonlyArray<string>, SqlError>
  }
>()("@berthkit/watch/store/SharedStore") {}

/** The peers in a store that only one process uses at a time: none. */
export const noPeers: Peers = { self: String(process.pid), announce: Effect.void }

/**
 * Orders: changes of a sink by a person. The process that delivers to the sink then restarts the delivery, because the rows
 * have changed.
 */
export const makeOrders = (sql: SqlClient.SqlClient, shared: SharedStore["Service"] | null) => ({
  /** Notes an order, in the transaction that carries it out. */
  note: (sink: string): Effect.Effect<unknown, SqlError> =>
    shared === null
      ? Effect.void
      : Effect.andThen(sql`UPDATE sink SET orders = orders + 1 WHERE name = ${sink}`, shared.announce),
  /** Number of orders so far; always 0 if only one process uses the store. */
  count: (sink: string): Effect.Effect<number, SqlError> =>
    shared === null
      ? Effect.succeed(0)
      : Effect.map(sql<{ orders: number }>`SELECT orders FROM sink WHERE name = ${sink}`, ([row]) => row?.orders ?? 0)
})

export type Orders = ReturnType<typeof makeOrders>
