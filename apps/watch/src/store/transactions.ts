/**
 * Transactions over a network. Where the connection breaks it cannot be rolled back either, which the client takes for a fault of the
 * program; the server rolls it back by itself, so that it is a failure as any other.
 */
import { Cause, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

const failureOf = (cause: Cause.Cause<unknown>): SqlError | undefined => {
  for (const reason of cause.reasons) {
    if (reason._tag === "Die" && isSqlError(reason.defect)) return reason.defect
  }
  return undefined
}

const recovered = <A, E, R>(transaction: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchCause(transaction, (cause) => {
    const failure = failureOf(cause)
    if (failure === undefined) return Effect.failCause(cause)
    return Cause.hasInterrupts(cause) ? Effect.interrupt : Effect.fail(failure)
  })

/** The client, with transactions that fail where their connection breaks. */
export const withBreakingTransactions = <Client extends SqlClient.SqlClient>(client: Client): Client => {
  const { withTransaction } = client
  return Object.assign(client, {
    withTransaction: <R, E, A>(effect: Effect.Effect<A, E, R>) => recovered(withTransaction(effect))
  })
}
