/**
 * Waits until a request may be spent. How many may be is decided in `Budget.ts`.
 */
import { Effect, Semaphore } from "effect"
import { type Budget, type Purse, spend } from "./Budget.ts"
import type { Moments } from "./Moments.ts"

/** Waits for leave to send one request. */
export type Pace = Effect.Effect<void>

/** Whoever asks first goes first. */
export const makePace = Effect.fnUntraced(function* (budget: Budget, moments: Moments) {
  const { upMillis } = yield* moments.now
  const turn = yield* Semaphore.make(1)
  let purse: Purse = { left: budget.burst, upMillis }
  const step = Effect.map(moments.now, ({ upMillis }) => {
    const spent = spend(purse, budget, upMillis)
    purse = spent.purse
    return spent.waitMillis
  })
  const pace: Pace = turn.withPermits(1)(
    Effect.gen(function* () {
      for (let waitMillis = yield* step; waitMillis > 0; waitMillis = yield* step) yield* Effect.sleep(waitMillis)
    })
  )
  return pace
})
