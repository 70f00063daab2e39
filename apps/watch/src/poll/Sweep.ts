/**
 * One sweep: reads the list page by page, passes on each page as it comes, and reports whether it reached the end. `diff/`
 * decides what the pages mean.
 */
import { Effect, Result } from "effect"
import type { Nodes } from "@berth/core/client/Nodes"
import { BerthError } from "@berth/core/domain/BerthError"
import { UnexpectedResponse } from "@berth/core/domain/ErrorReason"
import type { Lane } from "@berth/core/domain/Lane"
import type { Node, NodeId } from "@berth/core/domain/Node"
import type { PageRead, SweepCompleted, SweepFailed } from "../diff/Observation.ts"
import type { Moments } from "./Moments.ts"
import type { Pace } from "./Pace.ts"

/** A list with more pages than this does not end: they hold ten times the nodes this daemon is meant for. */
const maxPages = 10_000

const endless = new BerthError({
  operation: "nodes.list",
  reason: new UnexpectedResponse({
    status: 200,
    path: "data",
    expected: `an end of the list within ${maxPages} pages`,
    excerpt: "still more nodes"
  }),
  attempts: []
})

/** What a sweep needs. */
export interface SweepOptions {
  /** Number of the sweep, from 1. */
  readonly number: number
  readonly nodes: Nodes["Service"]
  /** Its turn when the allowance is short. */
  readonly lane: Lane
  readonly moments: Moments
  /** Waited for before every page. */
  readonly pace: Pace
  readonly observe: (page: PageRead) => Effect.Effect<unknown>
}

/**
 * Only an empty page proves the end: how long a page is at most is not documented (interface.md §4 note 1), and one
 * that is shorter than others may have had nodes hidden. A service that ignores the page number, or stays on the last
 * page, repeats itself.
 */
const isEnd = (page: ReadonlyArray<Node>, previous: ReadonlyArray<Node> | undefined): boolean =>
  page.length === 0 ||
  (previous !== undefined &&
    page.length === previous.length &&
    page.every(({ id }, index) => id === previous[index]?.id))

/** How a sweep ended: its own observation, and the failure that kept it from the end of the list. */
export type SweepEnd =
  | { readonly observation: SweepCompleted; readonly failure: null }
  | { readonly observation: SweepFailed; readonly failure: BerthError }

/** Sweeps once. It observes the pages as they come; the caller observes the end. */
export const sweep = Effect.fn("Sweep.sweep")(function* (options: SweepOptions): Effect.fn.Return<SweepEnd> {
  const { lane, moments, nodes, number, observe, pace } = options
  const listed = new Set<NodeId>()
  let repeated = 0
  let requests = 0
  let previous: ReadonlyArray<Node> | undefined
  const asked = yield* moments.now

  const extent = Effect.map(moments.now, (answered) => {
    return { asked, answered, sweep: number, requests, listed: listed.size, repeated }
  })
  const completed = Effect.map(extent, (extent): SweepEnd => {
    return { observation: { _tag: "SweepCompleted", ...extent }, failure: null }
  })
  const failed = (failure: BerthError) =>
    Effect.map(extent, (extent): SweepEnd => {
      return { observation: { _tag: "SweepFailed", ...extent, message: failure.message }, failure }
    })

  for (let page = 1; page <= maxPages; page++) {
    yield* pace
    const { answer, ...exchange } = yield* moments.around(Effect.result(nodes.listPage({ page, lane, retry: false })))
    requests++
    if (Result.isFailure(answer)) return yield* failed(answer.failure)
    const found = answer.success
    if (isEnd(found, previous)) return yield* completed
    previous = found
    for (const { id } of found) {
      if (listed.has(id)) repeated++
      else listed.add(id)
    }
    yield* observe({ _tag: "PageRead", ...exchange, sweep: number, nodes: found })
  }
  return yield* failed(endless)
})
