/**
 * What a listing is asked for, and what it came to. `Pages.ts` reads it. Without types of Effect: programs without it have the same.
 */

/** A record of the list that cannot be read, or contradicts one before it. It may be a node all the same. */
export interface LeftOutRecord {
  readonly _tag: "UnreadableRecord"
  /** Null where it has none that can be read. */
  readonly id: number | null
  /** Null where it has none that can be read. */
  readonly name: string | null
  /** The field that is wrong with it, such as `created_at`; empty for the whole record. */
  readonly field: string
  /** What the field was expected to be. */
  readonly expected: string
}

/** What reading one page of the list left out. */
export interface ListedPage {
  /** Records that cannot be read and were left out; each may be a node. At most 1000. */
  readonly unreadable: ReadonlyArray<LeftOutRecord>
}

/** The result of a listing. */
export interface Listed extends ListedPage {
  readonly nodes: number
  readonly requests: number
  /**
   * Whether every node that existed throughout is certainly among them. False where the service returns pages too small to
   * overlap, or has another order than that of ids, so that a node may have moved past the listing when others were deleted, where
   * it counts more nodes than it lists, and where a record was left out. True also if it counts exactly those that it lists, beside
   * each page. `"assumed"` where an inexact list left out the requests that prove it.
   */
  readonly complete: boolean | "assumed"
  /** The same of the records: not false because some were left out. Where this is false, a node may be missing of which nothing is known. */
  readonly readToEnd: boolean | "assumed"
  /** How many nodes there are, as the service said last; null if it does not say. */
  readonly total: number | null
}

/** How exact and how long a list may be. */
export interface ListBounds {
  /**
   * Whether every node that exists throughout must be listed. Without it pages do not overlap, which saves one request in
   * eight. Default true.
   */
  readonly exact?: boolean | undefined
  /**
   * Most nodes of the list. One with more, or one that has not ended after half as many requests again as pages of the service hold
   * so many nodes, fails with `UnexpectedResponse`. Default 50 000: 760 requests of 100 nodes.
   */
  readonly maxNodes?: number | undefined
}
