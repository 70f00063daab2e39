/**
 * The pages of a list, as they are pulled, one ahead: while the consumer works on a page the next one is asked for, and none
 * after that. What a page means is decided in `Listing.ts`.
 */
import { Cause, Effect, Fiber, Pull, type Scope } from "effect"
import type { BerthError } from "../../domain/BerthError.ts"
import type { Node } from "../../domain/Node.ts"
import type { Page } from "../NodeOperations.ts"
import * as Listing from "./Listing.ts"
import type { Window } from "./Window.ts"

/** What a listing came to. */
export interface Listed {
  readonly nodes: number
  readonly requests: number
  /**
   * Whether every node that existed throughout is certainly among them. False where the service gives pages too small to
   * overlap, or has another order than that of ids, so that a node may have moved past the listing while others were deleted.
   */
  readonly complete: boolean
}

/** How pages are read, and who is told of them. */
interface Parts {
  readonly readPage: (window: Window) => Effect.Effect<Page, BerthError>
  /** Told of the nodes that are given. */
  readonly onNodes: (nodes: ReadonlyArray<Node>) => void
  /** Told once, with the last of them. */
  readonly onEnd: ((listed: Listed) => Effect.Effect<void>) | undefined
  /** Once so many nodes are given, nothing is asked for ahead: the consumer may want no more. Default: no such number. */
  readonly wanted?: number | undefined
}

/** The nodes of one page after the other. Nothing is asked for before the first pull, or after the scope is closed. */
export const pages = ({
  onEnd,
  onNodes,
  readPage,
  wanted = Number.POSITIVE_INFINITY
}: Parts): Effect.Effect<Pull.Pull<readonly [Node, ...Array<Node>], BerthError>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    let progress = Listing.begin()
    let given = 0
    let requests = 0
    let ended = false
    let ahead: Fiber.Fiber<Listing.Step, BerthError> | undefined

    /** Reads on until there are nodes, or the list has ended. */
    const read: Effect.Effect<Listing.Step, BerthError> = Effect.suspend(() => {
      const window = Listing.next(progress)
      return Effect.flatMap(readPage(window), ({ isWhole, nodes }) => {
        const step = Listing.take(progress, window, nodes, isWhole)
        requests++
        progress = step.progress
        return step.ended || step.nodes.length > 0 ? Effect.succeed(step) : read
      })
    })

    const pull = Effect.gen(function* () {
      if (ended) return yield* Cause.done()
      const { nodes, progress, ...step } = yield* ahead === undefined ? read : Fiber.join(ahead)
      given += nodes.length
      onNodes(nodes)
      ended = step.ended
      ahead = ended || given >= wanted ? undefined : yield* Effect.forkIn(read, scope)
      if (ended && onEnd) yield* onEnd({ nodes: given, requests, complete: progress.complete })
      return isNonEmpty(nodes) ? nodes : yield* Cause.done()
    })
    return pull
  })

/** All nodes of the pages, once the last one is read. */
export const collect = <E, R>(
  pages: Effect.Effect<Pull.Pull<ReadonlyArray<Node>, E>, never, R>
): Effect.Effect<ReadonlyArray<Node>, E, Exclude<R, Scope.Scope>> =>
  Effect.scoped(
    Effect.flatMap(pages, (pull) => {
      const nodes: Array<Node> = []
      return Pull.catchDone(Effect.forever(Effect.map(pull, (page) => void nodes.push(...page))), () =>
        Effect.succeed(nodes)
      )
    })
  )

const isNonEmpty = <A>(items: ReadonlyArray<A>): items is readonly [A, ...Array<A>] => items.length > 0
