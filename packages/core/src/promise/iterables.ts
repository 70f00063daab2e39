/**
 * The async iterables of the client: a list of nodes, and the allowance with its changes.
 */
import { Effect, Exit, Pull, Scope } from "effect"
import type { BerthError } from "../domain/BerthError.ts"
import type * as Domain from "../domain/Node.ts"
import { Engine } from "../client/call/Engine.ts"
import type { KnownAllowance } from "../domain/Allowance.ts"
import { checkCall, wholeNumber } from "./checkOptions.ts"
import type { NodeList } from "./Client.ts"
import type { Node } from "./Records.ts"
import type { Call, Runner } from "./Runner.ts"
import { plainNode } from "./Plain.ts"
import { scheduler } from "./scheduler.ts"

/** Takes the items of an async iterator one at a time, in order: a consumer may ask for the next before it has the last. */
const inOrder = <A>(take: () => Promise<A>): (() => Promise<A>) => {
  let turn: Promise<unknown> = Promise.resolve()
  return () => {
    const result = turn.then(take, take)
    turn = result
    return result
  }
}

type Page = ReadonlyArray<Domain.Node>

/** What the deadline bounds: each page, or the list as a whole. */
export type Limit = "page" | "list"

const done: IteratorResult<never> = { done: true, value: undefined }

/**
 * The nodes of the listings that `openPages` opens, as async iterables and as an array. Each of them is a listing of its own; it asks for
 * pages as they are taken, one page ahead, and stops asking when its consumer stops.
 */
export const nodeList = <R>(
  runner: Runner<R>,
  { operation, signal }: Call,
  openPages: (limit: Limit) => Effect.Effect<Pull.Pull<Page, BerthError>, never, R | Scope.Scope>
): NodeList => {
  /** The pages of one listing, to be asked for one after the other. */
  const listing = (limit: Limit) => {
    const stop = new AbortController()
    const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
    let scope: Scope.Closeable | undefined
    let pull: Effect.Effect<Page, BerthError, R> | undefined
    let ended = false

    /** Ends what was begun beforehand, too: a page asked for while the consumer was busy. */
    const close = async () => {
      if (scope !== undefined) await Effect.runPromise(Scope.close(scope, Exit.void), { scheduler })
    }
    const end = () => {
      ended = true
      signal?.removeEventListener("abort", close)
      return close()
    }

    const open = () => {
      scope = runner.scope()
      signal?.addEventListener("abort", close, { once: true })
      return Effect.flatMap(Scope.provide(openPages(limit), scope), (opened) => {
        // No nodes stand for the end.
        pull = Pull.catchDone(opened, () => Effect.succeed([]))
        return pull
      })
    }

    return {
      next: async (): Promise<IteratorResult<Page, undefined>> => {
        if (ended) return done
        try {
          const value = await runner.run({ operation, signal: either }, pull ?? open())
          if (value.length > 0) return { done: false, value }
        } catch (error) {
          await end()
          if (stop.signal.aborted) return done
          throw error
        }
        await end()
        return done
      },
      return: async () => {
        stop.abort()
        await end()
        return done
      }
    }
  }

  const nodes = (): AsyncIterator<Node> => {
    const pages = listing("page")
    let page: Page = []
    let at = 0
    let returned = false
    return {
      next: inOrder(async () => {
        // The signal ends it in the middle of a page, too.
        if (at === page.length || signal?.aborted === true) {
          page = (await pages.next()).value ?? []
          at = 0
        }
        return at === page.length || returned ? done : { done: false, value: plainNode(page[at++]!) }
      }),
      return: () => {
        returned = true
        return pages.return()
      }
    }
  }

  const pages = (limit: Limit): AsyncIterator<ReadonlyArray<Node>> => {
    const pages = listing(limit)
    return {
      next: inOrder(async () => {
        const { value } = await pages.next()
        return value === undefined ? done : { done: false, value: value.map(plainNode) }
      }),
      return: pages.return
    }
  }

  const checkArray = checkCall(operation, { limit: wholeNumber() })

  return {
    [Symbol.asyncIterator]: nodes,
    pages: () => ({ [Symbol.asyncIterator]: () => pages("page") }),
    toArray: async (options) => {
      const { limit } = checkArray(options)
      const all: Array<Node> = []
      for await (const page of { [Symbol.asyncIterator]: () => pages("list") }) {
        all.push(...page)
        // Leaving at once ends the request for the next page before it is sent.
        if (limit !== undefined && all.length >= limit) return all.slice(0, limit)
      }
      return all
    }
  }
}

/**
 * What is known of the allowance when an iteration begins, then every change. Each iteration watches by itself; it has no end of its own,
 * but ends when its consumer stops.
 */
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
