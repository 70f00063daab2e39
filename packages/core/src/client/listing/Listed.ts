/** What a listing is asked for, and what it came to. `Pages.ts` reads it. */

/** The result of a listing. */
export interface Listed {
  readonly nodes: number
  readonly requests: number
  /**
   * Whether every node that existed throughout is certainly among them. False where the service returns pages too small to
   * overlap, or has another order than that of ids, so that a node may have moved past the listing when others were deleted.
   * `"assumed"` where an inexact list left out the requests that prove it.
   */
  readonly complete: boolean | "assumed"
}

/** How exact and how long a list may be. */
export interface ListBounds {
  /**
   * Whether every node that exists throughout must be listed. Without it pages do not overlap, which saves one request in
   * eight, and a first page counts as the only one where that is likely. Default true.
   */
  readonly exact?: boolean | undefined
  /**
   * Most nodes of the list. One with more, or one that has not ended after 1000 pages and one more for every 50 of these nodes,
   * fails with `UnexpectedResponse`. Default 1 000 000.
   */
  readonly maxNodes?: number | undefined
}
