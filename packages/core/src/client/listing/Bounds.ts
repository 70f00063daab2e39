/** Bounds on a list. Without them, a service that returns new nodes endlessly, or one node a page, would fill the memory. */
import { Effect } from "effect"
import { pageSize } from "../../api/Routes.ts"
import { BerthError } from "../../domain/BerthError.ts"
import { everyNodeShown, UnexpectedResponse } from "../../domain/ErrorReason.ts"

/** Default of the option `maxNodes`. An account with that many nodes is so expensive that its owner knows to raise the option. */
export const defaultMaxNodes = 50_000

/** The service's default page size. A shorter full page is implausible. */
export const minPlausiblePage = 20

/**
 * The maximum number of requests for a list of `maxNodes`, given the longest page so far. The factor 1.5 allows for pages that overlap and
 * for pages that are read again while nodes come and go. Implausibly short pages do not raise the limit.
 */
export const maxRequestsOf = (maxNodes: number, pageLength: number): number =>
  10 + Math.ceil((1.5 * maxNodes) / (pageLength < minPlausiblePage ? pageSize.maximum : pageLength))

const failed = (expected: string, path: string, excerpt: string): BerthError =>
  new BerthError({
    operation: "nodes.list",
    reason: new UnexpectedResponse({ status: 200, path, expected, excerpt }),
    attempts: []
  })

/** The failure if a list does not end within its bounds. */
export const endless = (maxNodes: number, maxRequests: number, nodes: number, requests: number): BerthError =>
  failed(
    `the end of the list within ${maxNodes} nodes (maxNodes) and ${maxRequests} requests`,
    "",
    `${nodes} nodes in ${requests} requests, and no end`
  )

/** The failure if no record of a list can be read. Such a list must not be taken for the list of an empty account. */
export const unreadableList = (records: number): BerthError =>
  failed("a record that can be read", "data", `${records} that cannot`)

/**
 * The failure if a list shows no node of a name, but may be incomplete. Without this failure, a program would think
 * that the name is free, and create a node (decision 0343).
 */
export const unprovedAbsence = (nodes: number): BerthError => failed(everyNodeShown, "data", `${nodes} nodes`)

/** The totals in the envelope of a page; null for each that it does not state. */
export interface Totals {
  /** The number of nodes in the list, or on this page. */
  readonly total: number | null
  /** The number of pages. */
  readonly pages: number | null
}

/**
 * Whether a page is a 404 instead of an empty page. Such a page has no node, and does not show that the page before it was the last one: the
 * service may not know pages at all, and may have cut its list (decision 0356).
 */
export interface MaybeMissing {
  readonly isMissing?: true | undefined
}

/**
 * Whether the totals say that `shown` nodes on `read` pages are the whole list. Both totals must agree if a page had as
 * many nodes as they state, because then they may be about that page.
 */
export const statesAll = ({ pages, total }: Totals, shown: number, read: number, longest: number): boolean =>
  total === shown && (pages === read || shown > longest)

/** Whether the totals say that this page is the whole list. Both must agree, because either alone may be about the page. */
export const statesWhole = (totals: Totals, length: number): boolean => statesAll(totals, length, 1, length)

/** Fails if the service states more pages than had nodes, unless the stated number of nodes shows that none is missing. */
export const ensurePages = ({ pages, total }: Totals, read: number, shown: number): Effect.Effect<void, BerthError> =>
  pages !== null && pages > read && total !== shown
    ? Effect.fail(failed(`${pages} pages (total_page_number)`, "data", `${read}`))
    : Effect.void

/**
 * Fails if the service counts more nodes than it shows, because the caller would think that a hidden node does not exist. `total` is null
 * if the service does not state it.
 */
export const ensureWhole = (total: number | null, shown: number): Effect.Effect<void, BerthError> =>
  total !== null && total > shown
    ? Effect.fail(failed(`${total} nodes (total_count)`, "data", `${shown} nodes`))
    : Effect.void

/**
 * Checks a page of a service that returns the same page for every page number. Fails if the list may go on after this
 * page, that is, if its totals say so, or if a full page has no totals.
 */
export const ensureUncut = ({ pages, total }: Totals, length: number): Effect.Effect<void, BerthError> =>
  (pages ?? 1) > 1 || (total === null && pages === null && length === pageSize.maximum)
    ? Effect.andThen(
        ensureWhole(total, length),
        Effect.fail(failed("the end of the list", "data", `the same ${length} nodes for every page`))
      )
    : ensureWhole(total, length)
