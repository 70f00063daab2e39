/**
 * Bounds on a list. Without them a service that returns new nodes for ever, or one node a page, is read until the memory is
 * full.
 */
import { Effect } from "effect"
import { pageSize } from "../../api/Routes.ts"
import { BerthError } from "../../domain/BerthError.ts"
import { UnexpectedResponse } from "../../domain/ErrorReason.ts"

/** Default of the option `maxNodes`: of the plans there are, so many cost more in a month than anyone lists without knowing it. */
export const defaultMaxNodes = 50_000

/** The service returns so many nodes a page where it is not asked for more. */
const minPlausiblePage = 20

/**
 * Most requests for so many nodes, with what the longest page so far had. Pages overlap, and some are read again while nodes come and
 * go: half as many again are enough. Pages of fewer nodes than any service gives get no more requests for that.
 */
export const maxRequestsOf = (maxNodes: number, pageLength: number): number =>
  10 + Math.ceil((1.5 * maxNodes) / (pageLength < minPlausiblePage ? pageSize.maximum : pageLength))

const failed = (expected: string, path: string, excerpt: string): BerthError =>
  new BerthError({
    operation: "nodes.list",
    reason: new UnexpectedResponse({ status: 200, path, expected, excerpt }),
    attempts: []
  })

/** The failure of a list that does not end within its bounds. */
export const endless = (maxNodes: number, maxRequests: number, nodes: number, requests: number): BerthError =>
  failed(
    `the end of the list within ${maxNodes} nodes (maxNodes) and ${maxRequests} requests`,
    "",
    `${nodes} nodes in ${requests} requests, and no end`
  )

/** The failure of a list of which nothing can be read: it is not the list of an empty account. */
export const unreadableList = (records: number): BerthError =>
  failed("a record that can be read", "data", `${records} that cannot`)

/**
 * Fails if a list counts more nodes than it shows, where a node that it lacks would be taken for absent. `total` is null where the service
 * does not say.
 */
export const ensureWhole = (total: number | null, shown: number): Effect.Effect<void, BerthError> =>
  total !== null && total > shown
    ? Effect.fail(failed(`${total} nodes (total_count)`, "data", `${shown} nodes`))
    : Effect.void
