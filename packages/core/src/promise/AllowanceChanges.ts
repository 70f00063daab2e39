/**
 * The allowance and its changes as an async iterable. Each iteration watches by itself; it has no end of its own, but ends
 * when its consumer stops.
 */
import { Engine } from "../client/call/Engine.ts"
import type { KnownAllowance } from "../domain/Allowance.ts"
import { type Call, inOrder, type Runner } from "./Runner.ts"

const done: IteratorResult<KnownAllowance> = { done: true, value: undefined }

/** What is known when an iteration begins, then every change. */
export const allowanceChanges = <R>(
  runner: Runner<R | Engine>,
  { operation, signal }: Call
): AsyncIterable<KnownAllowance> => ({
  [Symbol.asyncIterator]: () => {
    const stop = new AbortController()
    const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
    let seen: KnownAllowance | undefined
    let ended = false

    const take = async (): Promise<IteratorResult<KnownAllowance>> => {
      if (ended) return done
      const before = seen
      const next = Engine.use(({ allowance: { current, changeAfter } }) =>
        before === undefined ? current : changeAfter(before)
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
