/**
 * The beginnings of the accounts of a process: an account whose nodes are not known yet asks as fast as it may, so that thousands of them at
 * once would keep each other from ever knowing theirs. They begin in turn.
 */
import { Effect, Latch, Semaphore } from "effect"

/** Accounts that begin at once. */
const maxAtOnce = 50

/** After so long the next one begins all the same: a service may not answer, and that is no other account's fault. */
const maxTurn = "10 seconds"

export const makeBeginnings = Effect.map(Semaphore.make(maxAtOnce), (places) => ({
  /** Runs an account when its turn comes, which is over once its nodes are known. */
  inTurn: Effect.fnUntraced(function* <A, E, R>(run: Effect.Effect<A, E, R>, known: Effect.Effect<void>) {
    const turn = Latch.makeUnsafe(false)
    const begun = Effect.raceFirst(known, Effect.sleep(maxTurn))
    yield* Effect.forkScoped(places.withPermit(Effect.andThen(turn.open, begun)), { startImmediately: true })
    yield* turn.await
    return yield* run
  })
}))
export type Beginnings = Effect.Success<typeof makeBeginnings>
