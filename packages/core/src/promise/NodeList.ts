/**
 * The pages of a list as an async iterable. Each iteration is a listing of its own; it asks for pages as the nodes are
 * taken, one page ahead, and stops asking when its consumer stops.
 */
import { Effect, Exit, Pull, Scope } from "effect"
import type { BerthError } from "../domain/BerthError.ts"
import type * as Domain from "../domain/Node.ts"
import { inOrder } from "./inOrder.ts"
import { type Plain, plainNode } from "./Plain.ts"
import type { Call, Runner } from "./Runner.ts"

type Node = Plain<Domain.Node>

const done: IteratorResult<Node> = { done: true, value: undefined }

/** The nodes of `pages`, which are opened anew by every iteration. */
export const nodeList = <R>(
  runner: Runner<R>,
  { operation, signal }: Call,
  pages: Effect.Effect<Pull.Pull<ReadonlyArray<Domain.Node>, BerthError>, never, R | Scope.Scope>
): AsyncIterable<Node> => ({
  [Symbol.asyncIterator]: () => {
    const stop = new AbortController()
    const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
    let scope: Scope.Closeable | undefined
    let pull: Effect.Effect<ReadonlyArray<Domain.Node>, BerthError, R> | undefined
    let page: ReadonlyArray<Domain.Node> = []
    let at = 0
    let ended = false

    /** Ends what was begun beforehand, too: a page asked for while the consumer was busy. */
    const end = () => {
      ended = true
      page = []
      signal?.removeEventListener("abort", letGo)
      return scope === undefined ? Promise.resolve() : Effect.runPromise(Scope.close(scope, Exit.void))
    }
    const letGo = () => {
      page = []
      at = 0
      if (scope !== undefined) Effect.runFork(Scope.close(scope, Exit.void))
    }

    const open = () => {
      scope = runner.scope()
      signal?.addEventListener("abort", letGo, { once: true })
      return Effect.flatMap(Scope.provide(pages, scope), (opened) => {
        // No nodes stand for the end.
        pull = Pull.catchDone(opened, () => Effect.succeed([]))
        return pull
      })
    }

    const take = async (): Promise<IteratorResult<Node>> => {
      if (ended) return done
      if (at === page.length) {
        try {
          page = await runner.run({ operation, signal: either }, pull ?? open())
        } catch (error) {
          await end()
          if (stop.signal.aborted) return done
          throw error
        }
        at = 0
        if (page.length === 0) {
          await end()
          return done
        }
      }
      return { done: false, value: plainNode(page[at++]!) }
    }

    return {
      next: inOrder(take),
      return: async () => {
        stop.abort()
        await end()
        return done
      }
    }
  }
})
