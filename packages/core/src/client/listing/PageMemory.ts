/**
 * What earlier lists showed of an account's pages: how long they get. A first page shorter than the longest one so far is the
 * whole list, because with more nodes it would be longer. A service may change to shorter pages, so every tenth list checks
 * again. Pure; `PageStore.ts` keeps it.
 */
import { Predicate } from "effect"
import { pageSize } from "../../api/Routes.ts"

/** What is known of first pages that were requested with one `per_page`. */
export interface PageRecord {
  /** Most nodes on a first page so far. */
  readonly longest: number
  /** A first page of at most this length counts as the whole list: `longest` where nothing followed a page of that length. */
  readonly upTo: number
  /** Lists that may rely on this before one checks again. */
  readonly listsLeft: number
}

/** The records by their `per_page`. */
export type PageMemory = Readonly<Record<string, PageRecord>>

/** The findings of a list that requested more than its first page. */
export interface Evidence {
  /** Nodes on its first page. */
  readonly first: number
  /** Whether there were more nodes. */
  readonly more: boolean
  /** Whether its pages fitted together, which proves that the list begins with the first page. */
  readonly complete: boolean
}

/** Every tenth list checks. */
const listsPerProof = 9

/**
 * Whether a first page of this length, which is not full, is the whole list: `true` where longer ones were returned,
 * `"assumed"` where a list ended after such a page before, as it does where pages are never longer.
 */
export const judge = (record: PageRecord | undefined, length: number): true | "assumed" | undefined =>
  record === undefined || record.listsLeft === 0 || length > record.upTo
    ? undefined
    : length < record.longest || "assumed"

/** The record after a list relied on it. */
export const relied = (record: PageRecord): PageRecord => ({ ...record, listsLeft: record.listsLeft - 1 })

/**
 * The record after a list that checked. Without evidence its pages were not the requested ones, or in another order than that
 * of ids.
 */
export const learned = (record: PageRecord | undefined, evidence: Evidence | undefined): PageRecord | undefined => {
  if (!evidence) return { longest: 0, upTo: 0, listsLeft: 0 }
  const { complete, first, more } = evidence
  const { listsLeft, longest } = record ?? { longest: first, listsLeft: listsPerProof }
  // The service returns shorter pages than before, or leaves nodes out of them.
  if (more && first < longest) return { longest: first, upTo: 0, listsLeft: 0 }
  if (!complete) return record
  return {
    longest: Math.max(longest, first),
    // A list that ended here shows nothing about longer pages; one that went on shows that this page may be full.
    upTo: more ? first - 1 : first,
    // Only a list that could have relied on this, and checked, is a proof.
    listsLeft: more || first > longest ? listsLeft : listsPerProof
  }
}

const isWithin = (value: unknown, min: number, max: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= min && Number(value) <= Number(max)

/** Whether a value is a page memory. By hand, because a schema takes longer than the request it saves. */
export const isPageMemory = (value: unknown): value is PageMemory =>
  Predicate.isObject(value) &&
  Object.entries(value).every(
    ([perPage, record]: [string, unknown]) =>
      isWithin(Number(perPage), 1, pageSize.maximum) &&
      Predicate.isObject(record) &&
      isWithin(record["longest"], 0, perPage) &&
      isWithin(record["upTo"], 0, record["longest"]) &&
      isWithin(record["listsLeft"], 0, listsPerProof)
  )
