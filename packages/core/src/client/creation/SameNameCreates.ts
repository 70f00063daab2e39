/**
 * The creates of one name in this client. While it is settled which node came of one whose reply is lost, no other is under
 * way, so that none of theirs can be taken for it.
 */
import { Effect, Semaphore } from "effect"
import type { Intent } from "./Intent.ts"

/** Most creates of one name that may be under way at once. */
const maxUnderWay = 1_000_000

/** Creates that differ in nothing that a node shows: whose node is whose does not matter among them. */
const lookOf = ({ image, plan }: Pick<Intent, "plan" | "image">) => JSON.stringify([plan, image])

export class SameNameCreates {
  /** Calls that use this. */
  users = 0
  readonly #lost = new Map<string, number>()
  readonly #gate = Semaphore.makeUnsafe(maxUnderWay)
  /** Whoever wants to resolve keeps it shut, or those who come later would never let the gate become free. */
  readonly #door = Semaphore.makeUnsafe(1)

  /** Creates alike whose replies are lost, and which are not settled. */
  lost(intent: Intent): number {
    return this.#lost.get(lookOf(intent)) ?? 0
  }

  /** Counts the create among the lost ones while `resolve` runs. */
  readonly whileLost =
    (intent: Intent) =>
    <A, E, R>(resolve: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
      const add = (count: number) => this.#lost.set(lookOf(intent), this.lost(intent) + count)
      return Effect.acquireUseRelease(
        Effect.sync(() => add(1)),
        () => resolve,
        () => Effect.sync(() => add(-1))
      )
    }

  /** Runs `send` while nothing is settled. */
  readonly sending = <A, E, R>(send: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.andThen(this.#door.withPermit(Effect.void), this.#gate.withPermit(send))

  /** Runs `resolve` while nothing is under way. */
  readonly exclusively = <A, E, R>(resolve: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    this.#door.withPermit(this.#gate.withPermits(maxUnderWay)(resolve))
}
