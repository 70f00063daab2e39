/**
 * Work in steps as an effect: it lets the server answer other requests between two of them.
 */
import { Effect } from "effect"
import type { Steps } from "../world/Steps.ts"

export const inSteps = Effect.fnUntraced(function* <A>(steps: Steps<A>) {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    yield* Effect.yieldNow
  }
})
