/**
 * Starts the accounts of a process in turn. A new account reads its nodes as fast as it may, so if thousands started at once,
 * none would ever finish.
 */
import { Effect, Latch, Semaphore } from "effect"

/** Maximum number of accounts that start at the same time. */
const maxAtOnce = 50

/** After this time the next account starts anyway: a service that does not answer must not block other accounts. */
const maxTurn = "10 seconds"

export const makeBeginnings = Effect.map(Semaphore.make(maxAtOnce), (places) => ({
  /** Runs an account when its turn comes. The turn ends once the account's nodes are known. */
  inTurn: Effect.fnUntraced(function* <A, E, R>(run: Effect.Effect<A, E, R>, known: Effect.Effect<void>) {
    const turn = Latch.makeUnsafe(false)
    const begun = Effect.raceFirst(known, Effect.sleep(maxTurn))
    yield* Effect.forkScoped(places.withPermit(Effect.andThen(turn.open, begun)), { startImmediately: true })
    yield* turn.await
    return yield* run
  })
}))
export type Beginnings = Effect.Success<typeof makeBeginnings>
