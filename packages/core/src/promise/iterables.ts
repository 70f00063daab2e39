/**
 * The async iterables of the client: the list of nodes, and the changes of the allowance (how many requests the rate limit still permits).
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

/**
 * Takes the items of an async iterator one at a time, in order, even if a consumer asks for an item before it has
 * received the previous one.
 */
const inOrder = <A>(take: () => Promise<A>): (() => Promise<A>) => {
  let turn: Promise<unknown> = Promise.resolve()
  return () => {
    const result = turn.then(take, take)
    turn = result
    return result
  }
}

type Page = ReadonlyArray<Domain.Node>

/** The deadline bounds each page, or the whole list. */
export type Limit = "page" | "list"

const done: IteratorResult<never> = { done: true, value: undefined }

/**
 * The nodes as async iterables and as an array. Each use opens a separate listing with `openPages`. It requests pages as the consumer
 * takes them, one page ahead, and stops when the consumer stops.
 */
export const nodeList = <R>(
  runner: Runner<R>,
  { operation, signal }: Call,
  openPages: (limit: Limit) => Effect.Effect<Pull.Pull<Page, BerthError>, never, R | Scope.Scope>
): NodeList => {
  /** The pages of one listing; ask for them one after the other. */
  const listing = (limit: Limit) => {
    const stop = new AbortController()
    const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
    let scope: Scope.Closeable | undefined
    let pull: Effect.Effect<Page, BerthError, R> | undefined
    let ended = false

    /** Closes the listing, and with it the request for the page that was read ahead. */
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
        // An empty page means the end.
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
        // The signal ends the iteration even in the middle of a page.
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
        // Return at once: this cancels the request for the next page before it is sent.
        if (limit !== undefined && all.length >= limit) return all.slice(0, limit)
      }
      return all
    }
  }
}

/**
 * The allowance as known when an iteration begins, then every change. Each iteration is independent, and ends only when its consumer stops.
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
        // If the consumer calls `return` while it waits for a change, the pending `next` resolves with `done: true`.
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
