/**
 * Wakes readers within the process that something is new. It counts, so that what happens between two waits is not missed.
 */
import { Deferred, Effect } from "effect"

export interface Signal {
  readonly notify: Effect.Effect<void>
  /** Waits until there were more notifications than `seen`; gives how many. */
  readonly wait: (seen: number) => Effect.Effect<number>
}

export const makeSignal = (): Signal => {
  let count = 0
  let next = Deferred.makeUnsafe<void>()
  return {
    notify: Effect.sync(() => {
      count++
      const due = next
      next = Deferred.makeUnsafe()
      Deferred.doneUnsafe(due, Effect.void)
    }),
    wait: (seen) =>
      Effect.suspend(() => (count > seen ? Effect.succeed(count) : Effect.map(Deferred.await(next), () => count)))
  }
}
