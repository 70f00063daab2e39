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
import type { Exchange, Observation, SweepCompleted } from "../diff/Observation.ts"
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
  readonly observe: (observation: Observation) => Effect.Effect<unknown>
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

/** Sweeps once. It observes the pages as they come, and the failed request that kept it from the end of the list. */
export const sweep = Effect.fn("Sweep.sweep")(function* (
  options: SweepOptions
): Effect.fn.Return<SweepCompleted, BerthError> {
  const { lane, moments, nodes, number, observe, pace } = options
  const listed = new Set<NodeId>()
  let requests = 0
  let previous: ReadonlyArray<Node> | undefined
  const asked = yield* moments.now

  const failed = Effect.fnUntraced(function* (exchange: Exchange, failure: BerthError) {
    yield* observe({ _tag: "RequestFailed", ...exchange, message: failure.message })
    return yield* failure
  })

  for (let page = 1; page <= maxPages; page++) {
    yield* pace
    const { answer, ...exchange } = yield* moments.around(
      Effect.result(nodes.listPage({ page, lane, retry: false, onReply: moments.takeDate }))
    )
    requests++
    if (Result.isFailure(answer)) return yield* failed(exchange, answer.failure)
    const found = answer.success
    if (isEnd(found, previous)) {
      const { answered } = exchange
      return { _tag: "SweepCompleted", asked, answered, sweep: number, requests, listed: listed.size, nameless: 0 }
    }
    previous = found
    for (const { id } of found) listed.add(id)
    yield* observe({ _tag: "PageRead", ...exchange, sweep: number, isEnd: false, nodes: found, unreadable: [] })
  }
  const now = yield* moments.now
  return yield* failed({ asked: now, answered: now }, endless)
})
