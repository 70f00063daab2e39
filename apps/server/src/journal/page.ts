/**
 * A page of a journal: the entries that match the filters, forward from a number or the last ones, and what a reader needs to
 * continue and to see what was missed. Filters run on the recorded requests; only those of the page are formatted.
 */
import { operationOf } from "@berthkit/learn/operations"
import type { Journal } from "./Journals.ts"

export interface PageOptions {
  readonly operation?: string | undefined
  readonly method?: string | undefined
  readonly status?: number | undefined
  readonly fault?: string | undefined
  /** Only requests with a greater `seq`. */
  readonly after?: number | undefined
  /** With `after` the first this many entries, otherwise the last. */
  readonly limit?: number | undefined
}

/** Filters are about requests: with any filter, entries about the world as a whole are left out. */
export const pageOf = (journal: Journal, options: PageOptions) => {
  const { after = 0, fault, limit, operation, status } = options
  const method = options.method?.toUpperCase()
  const isFiltered = [fault, method, operation, status].some((filter) => filter !== undefined)
  const matching = journal
    .entries()
    .filter(
      (entry) =>
        entry.seq > after &&
        !(isFiltered && entry.change !== undefined) &&
        (method === undefined || entry.method === method) &&
        (status === undefined || entry.status === status) &&
        (fault === undefined || entry.faults.includes(fault)) &&
        (operation === undefined || operationOf(entry.method, entry.url.split("?", 1)[0]!) === operation)
    )
  const requests =
    limit === undefined ? matching : options.after === undefined ? matching.slice(-limit) : matching.slice(0, limit)
  const last = requests.at(-1)
  const more = last !== matching.at(-1)
  return {
    requests,
    /** The `after` of the next page. */
    next: more && last !== undefined ? last.seq : journal.count,
    /** Whether more entries exist already. */
    more,
    /** How many requests after `after` are no longer kept, whether or not they would match the filters. */
    dropped: Math.max(0, journal.count - journal.kept - after)
  }
}
