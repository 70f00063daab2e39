/**
 * What earlier lists showed of an account's pages: how long they get. A first page shorter than the longest one ever given is
 * the whole list, for where there were more nodes the page would be longer. A service may come to give shorter pages, so every
 * tenth list asks again. Pure; where it is kept is in `PageStore.ts`.
 */
import { Predicate } from "effect"
import { pageSize } from "../../api/Routes.ts"

/** What is known of first pages that were asked for with one `per_page`. */
export interface PageRecord {
  /** Most nodes that a first page had. */
  readonly longest: number
  /** Most nodes of a first page that is taken for the whole list: `longest` where nothing came behind a page of that length. */
  readonly upTo: number
  /** Lists that may rely on this before one asks again. */
  readonly listsLeft: number
}

/** The records by their `per_page`. */
export type PageMemory = Readonly<Record<string, PageRecord>>

/** What a list that asked for more than its first page found. */
export interface Evidence {
  /** Nodes on its first page. */
  readonly first: number
  /** Whether there were others. */
  readonly more: boolean
  /** Whether its pages fitted together, which shows that the first page asked for is where the list begins. */
  readonly complete: boolean
}

/** Every tenth list asks. */
const listsPerProof = 9

/**
 * Whether a first page of this length, which is not full, is the whole list: `true` where longer ones were given,
 * `"assumed"` where the list ended behind such a page before, as it does where pages are never longer.
 */
export const judge = (record: PageRecord | undefined, length: number): true | "assumed" | undefined =>
  record === undefined || record.listsLeft === 0 || length > record.upTo
    ? undefined
    : length < record.longest || "assumed"

/** The record after a list relied on it. */
export const relied = (record: PageRecord): PageRecord => ({ ...record, listsLeft: record.listsLeft - 1 })

/**
 * The record after a list that asked. Without evidence its pages were not those that were asked for, or in another order than
 * that of ids.
 */
export const learned = (record: PageRecord | undefined, evidence: Evidence | undefined): PageRecord | undefined => {
  if (!evidence) return { longest: 0, upTo: 0, listsLeft: 0 }
  const { complete, first, more } = evidence
  const { listsLeft, longest } = record ?? { longest: first, listsLeft: listsPerProof }
  // The service gives shorter pages than it did, or leaves nodes out of them.
  if (more && first < longest) return { longest: first, upTo: 0, listsLeft: 0 }
  if (!complete) return record
  return {
    longest: Math.max(longest, first),
    // That a list ended here says nothing of longer pages; that it went on, that this one may be full.
    upTo: more ? first - 1 : first,
    // Only a list that could have relied on this, and asked, is a proof.
    listsLeft: more || first > longest ? listsLeft : listsPerProof
  }
}

const isWithin = (value: unknown, min: number, max: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= min && Number(value) <= Number(max)

/** Whether a value that was read from somewhere is a memory. By hand: a schema would take longer than the request it saves. */
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
