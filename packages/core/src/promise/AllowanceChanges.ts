/**
 * The allowance and its changes as an async iterable. Each iteration watches by itself; it has no end of its own, but ends
 * when its consumer stops.
 */
import { Engine } from "../client/Engine.ts"
import type { AllowanceLevel } from "../domain/Allowance.ts"
import { inOrder } from "./inOrder.ts"
import type { Call, Runner } from "./Runner.ts"

const done: IteratorResult<AllowanceLevel> = { done: true, value: undefined }

/** What is known when an iteration begins, then every change. */
export const allowanceChanges = <R>(
  runner: Runner<R | Engine>,
  { operation, signal }: Call
): AsyncIterable<AllowanceLevel> => ({
  [Symbol.asyncIterator]: () => {
    const stop = new AbortController()
    const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
    let seen: AllowanceLevel | undefined
    let ended = false

    const take = async (): Promise<IteratorResult<AllowanceLevel>> => {
      if (ended) return done
      const before = seen
      const next = Engine.use(({ allowance: { level, levelAfter } }) =>
        before === undefined ? level : levelAfter(before)
      )
      try {
        return { done: false, value: (seen = await runner.run({ operation, signal: either }, next)) }
      } catch (error) {
        // A reader that waits while it is returned waits for the end.
        if (stop.signal.aborted) return done
        ended = true
        throw error
      }
    }

    return {
      next: inOrder(take),
      return: () => {
        ended = true
        stop.abort()
        return Promise.resolve(done)
      }
    }
  }
})
