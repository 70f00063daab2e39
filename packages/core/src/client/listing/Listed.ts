/**
 * The options and the result of a listing; `Pages.ts` reads it. This module uses no Effect types, because programs without Effect share
 * them.
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
   * Whether every node that existed throughout is certainly included. False if a record was left out, if the service counts more nodes than
   * it lists, if its pages are too small to overlap, or if it does not sort by id, so that a node may have moved past the listing when
   * others were deleted. Also true if every page states exactly the listed number. `"assumed"` if an inexact list skipped the requests that
   * prove it.
   */
  readonly complete: boolean | "assumed"
  /** The same for records, so records that were left out do not make it false. If false, an entirely unknown node may be missing. */
  readonly readToEnd: boolean | "assumed"
  /** The number of nodes according to the service's latest statement; null if it states none. */
  readonly total: number | null
}

/** The accuracy and length limits of a list. */
export interface ListBounds {
  /**
   * Whether every node that exists throughout must be listed. Otherwise pages do not overlap, which saves one request in eight. Default
   * true.
   */
  readonly exact?: boolean | undefined
  /**
   * Most nodes of the list. A list with more nodes fails with `UnexpectedResponse`, and so does one that has not ended after one and a half
   * times the requests that this number needs. Default 50 000: 760 requests of 100 nodes.
   */
  readonly maxNodes?: number | undefined
}
