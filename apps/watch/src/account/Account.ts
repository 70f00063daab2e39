/**
 * An account, and the one way in which it changes: an observation goes through the diff, what it changes is committed, and only
 * then believed. One observation after the other; what is not committed is not believed, and was never reported.
 */
import { Effect, Semaphore } from "effect"
import type { EventFact } from "../events/Event.ts"
import type { AccountChange } from "../store/accounts.ts"
import type { Owner } from "../store/ownership.ts"
import { Store } from "../store/Store.ts"
import { mayPass, type StoreFailed } from "../store/StoreFailed.ts"

/** What is believed of an account, and how an observation differs from it. */
export interface Belief<Observation, Difference extends { readonly facts: ReadonlyArray<EventFact> }> {
  /** Pure: it changes nothing. */
  readonly diff: (observation: Observation) => Difference
  /** The part of a difference that outlives the process, without its facts. Nothing in a quiet sweep. */
  readonly durable: (difference: Difference) => Omit<AccountChange, "events">
  /** Changes what is believed; perhaps in steps, between which others get a turn. */
  readonly apply: (difference: Difference) => Iterable<void> | void
}

/** Before the store is asked again after it failed. */
const storePause = "1 second"

const isEmpty = (change: AccountChange): boolean =>
  Object.values(change).every((value) => value === undefined || (Array.isArray(value) && value.length === 0))

export const makeAccount = Effect.fnUntraced(function* <
  Observation,
  Difference extends { readonly facts: ReadonlyArray<EventFact> }
>({
  belief,
  mailbox: shared,
  owner
}: {
  readonly owner: Owner
  readonly belief: Belief<Observation, Difference>
  /** Shared by beliefs that change something together; each has its own unless given. */
  readonly mailbox?: Semaphore.Semaphore | undefined
}) {
  const store = yield* Store
  const mailbox = shared ?? (yield* Semaphore.make(1))

  /**
   * A store that may work again is waited for: the poller waits for the observation, so nothing is asked meanwhile. The wait may be
   * interrupted, so that a daemon on a full disk can be stopped.
   */
  const commit = Effect.fnUntraced(function* (change: AccountChange) {
    let isUnsure = false
    for (;;) {
      const committed = yield* Effect.result(store.commit(owner, change))
      if (committed._tag === "Success") return
      // A connection that broke does not say whether its last commit was made. All of it was, if its events are there.
      if (isUnsure && committed.failure.fault === "repeated") {
        return yield* store.noteCommitted(owner.account, change.events ?? [])
      }
      if (!mayPass(committed.failure)) return yield* committed.failure
      isUnsure ||= committed.failure.fault === "unavailable"
      yield* Effect.interruptible(Effect.sleep(storePause))
    }
  })

  /**
   * Takes in an observation; gives what happened. Fails when another process owns the account now, or the store cannot be used
   * any more: nothing was believed then, and nothing may be observed after it.
   */
  const observe = (observation: Observation): Effect.Effect<Difference["facts"], StoreFailed> =>
    mailbox.withPermit(
      Effect.gen(function* () {
        const difference = belief.diff(observation)
        const change = { ...belief.durable(difference), events: difference.facts }
        if (!isEmpty(change)) yield* commit(change)
        for (const _ of belief.apply(difference) ?? []) yield* Effect.yieldNow
        return difference.facts
      }).pipe(Effect.uninterruptible)
    )

  return { observe }
})
