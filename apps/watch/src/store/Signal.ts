/**
 * Wakes readers within the process when something is new. Notifications are counted, so a reader misses none between two waits.
 */
import { Deferred, Effect } from "effect"

export interface Signal {
  readonly notifyUnsafe: () => void
  readonly notify: Effect.Effect<void>
  /** Waits until there have been more notifications than `seen`; returns the number of all so far. */
  readonly wait: (seen: number) => Effect.Effect<number>
}

/** Waits until a condition holds: checks it now, and after each notification. */
export const waitUntil = Effect.fnUntraced(function* <E, R>(
  wait: Signal["wait"],
  condition: Effect.Effect<boolean, E, R>
) {
  for (let seen = 0; !(yield* condition);) seen = yield* wait(seen)
})

export const makeSignal = (): Signal => {
  let count = 0
  let next = Deferred.makeUnsafe<void>()
  const notifyUnsafe = () => {
    count++
    const due = next
    next = Deferred.makeUnsafe()
    Deferred.doneUnsafe(due, Effect.void)
  }
  return {
    notifyUnsafe,
    notify: Effect.sync(notifyUnsafe),
    wait: (seen) =>
      Effect.suspend(() => (count > seen ? Effect.succeed(count) : Effect.map(Deferred.await(next), () => count)))
  }
}
