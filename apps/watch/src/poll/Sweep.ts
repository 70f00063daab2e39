/**
 * One sweep: reads the list page by page to its end, and hands on each page as it comes. It says whether it got to the
 * end; what the pages mean is decided in `diff/`.
 */
import { Effect, Result } from "effect"
import type { Nodes } from "@berth/core/client/Nodes"
import type { BerthError } from "@berth/core/domain/BerthError"
import type { Node, NodeId } from "@berth/core/domain/Node"
import type { Observation } from "../diff/Observation.ts"
import type { Moments } from "./Moments.ts"
import type { Pace } from "./Pace.ts"

/** A list longer than this does not end: 100 times the nodes this daemon is meant for. */
const pageLimit = 100_000

/** What a sweep needs. */
export interface SweepOptions {
  /** Number of the sweep, from 1. */
  readonly number: number
  readonly nodes: Nodes["Service"]
  readonly moments: Moments
  /** Asked before every page. */
  readonly pace: Pace
  readonly observe: (observation: Observation) => Effect.Effect<unknown>
}

/**
 * Only an empty page proves the end: how long a page is at most is not documented (interface.md §4 note 1), and one that
 * is shorter than others may have had its nodes hidden. A service that ignores the page number, or stays on the last
 * page, repeats itself.
 */
const isEnd = (page: ReadonlyArray<Node>, previous: ReadonlyArray<Node> | undefined): boolean =>
  page.length === 0 ||
  (previous !== undefined &&
    page.length === previous.length &&
    page.every(({ id }, index) => id === previous[index]?.id))

/** Sweeps once. Succeeds with null when the list was read to its end, else with the reason. */
export const sweep = Effect.fn("Sweep.sweep")(function* (options: SweepOptions): Effect.fn.Return<BerthError | null> {
  const { moments, nodes, number, observe, pace } = options
  const listed = new Set<NodeId>()
  let repeated = 0
  let requests = 0
  let previous: ReadonlyArray<Node> | undefined
  const began = yield* moments.now

  const finish = Effect.fnUntraced(function* (failure: BerthError | null) {
    const answered = yield* moments.now
    const extent = { asked: began, answered, sweep: number, requests, listed: listed.size, repeated }
    yield* observe(
      failure === null
        ? { _tag: "SweepCompleted", ...extent }
        : { _tag: "SweepFailed", ...extent, message: failure.message }
    )
    return failure
  })

  for (let page = 1; page <= pageLimit; page++) {
    yield* pace
    const exchange = yield* moments.around(Effect.result(nodes.listPage({ page })))
    requests++
    const { answer, answered, asked } = exchange
    if (Result.isFailure(answer)) return yield* finish(answer.failure)
    const found = answer.success
    if (isEnd(found, previous)) return yield* finish(null)
    previous = found
    for (const { id } of found) {
      if (listed.has(id)) repeated++
      else listed.add(id)
    }
    yield* observe({ _tag: "PageRead", asked, answered, sweep: number, nodes: found })
  }
  return yield* Effect.die(new Error(`the list did not end within ${pageLimit} pages`))
})
