/**
 * The creates of one name in this client. While one whose reply is lost is reconciled with the list no other is under way, so
 * that none of their nodes can be taken for its own.
 */
import { Effect, Semaphore } from "effect"
import type { Intent } from "./IntentStore.ts"

/** Most creates of one name that may be under way at once. */
const maxUnderWay = 1_000_000

export class SameNameCreates {
  readonly #lost = new Set<Intent>()
  readonly #gate = Semaphore.makeUnsafe(maxUnderWay)
  /** Shut while a create waits to be resolved: those that come later would never let the gate become free. */
  readonly #door = Semaphore.makeUnsafe(1)

  /** The creates that have lost their replies and are not resolved. */
  get lost(): Iterable<Intent> {
    return this.#lost
  }

  /** Counts the create among the lost ones while `resolve` runs. */
  readonly whileLost =
    (intent: Intent) =>
    <A, E, R>(resolve: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.sync(() => this.#lost.add(intent)),
        () => resolve,
        () => Effect.sync(() => this.#lost.delete(intent))
      )

  /** Runs `send` while none is resolved. */
  readonly sending = <A, E, R>(send: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.andThen(this.#door.withPermit(Effect.void), this.#gate.withPermit(send))

  /** Runs `resolve` while none is under way. */
  readonly exclusively = <A, E, R>(resolve: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    this.#door.withPermit(this.#gate.withPermits(maxUnderWay)(resolve))
}
