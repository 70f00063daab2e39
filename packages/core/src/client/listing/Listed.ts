/**
 * The options and the result of a listing; `Pages.ts` reads the list. This module uses no Effect types, because programs without Effect
 * have the same options and results.
 */

/** A record of the list that is unreadable or contradicts an earlier one. It may still be a node. */
export interface LeftOutRecord {
  readonly _tag: "UnreadableRecord"
  /** Null if it has no readable id. */
  readonly id: number | null
  /** Null if it has no readable name. */
  readonly name: string | null
  /** The wrong field, such as `created_at`; empty for the whole record. */
  readonly field: string
  /** The expected value of the field. */
  readonly expected: string
}

/** What a page left out. */
export interface ListedPage {
  /** Unreadable records that were left out; each may be a node. At most 1000. */
  readonly unreadable: ReadonlyArray<LeftOutRecord>
}

/** The result of a listing. */
export interface Listed extends ListedPage {
  readonly nodes: number
  readonly requests: number
  /**
   * Whether every node that existed the whole time is certainly included. False if a record was left out, or if the
   * service counts more nodes than it lists. If the pages are too small to overlap, or if the service does not sort by
   * id, a node may have moved past the listing when others were deleted. In this case, true only if every page states
   * exactly the number of nodes that were listed. `"assumed"` if an inexact list skipped the requests that prove
   * completeness.
   */
  readonly complete: boolean | "assumed"
  /** Like `complete`, but stays true if records were left out. If false, an entirely unknown node may be missing. */
  readonly readToEnd: boolean | "assumed"
  /** The number of nodes according to the service's latest statement; null if it states none. */
  readonly total: number | null
}

/** The accuracy and length limits of a list. */
export interface ListBounds {
  /**
   * Whether every node that exists the whole time must be listed. If false, pages do not overlap, which saves one request in eight.
   * Default true.
   */
  readonly exact?: boolean | undefined
  /**
   * Maximum number of nodes in the list. A list with more nodes fails with `UnexpectedResponse`, and so does a list that has not ended
   * after one and a half times the requests that this number needs. The default is 50 000, which allows at most 760 requests for 100 nodes
   * each.
   */
  readonly maxNodes?: number | undefined
}
