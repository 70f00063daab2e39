/**
 * A page of a journal: the entries that match the filters, either the first ones after a number or the last ones. It also
 * says where the next page begins, and how many requests the reader has missed. Filters look at the recorded requests, so
 * only the requests of the page have to be formatted.
 */
import { operationOf } from "@berthkit/profile/operations"
import type { Journal } from "./Journals.ts"

export interface PageOptions {
  readonly operation?: string | undefined
  readonly method?: string | undefined
  readonly status?: number | undefined
  readonly fault?: string | undefined
  /** Only requests with a greater `seq`. */
  readonly after?: number | undefined
  /** Maximum number of entries. If `after` is given, the page has the first ones, otherwise the last ones. */
  readonly limit?: number | undefined
}

/** The page. Filters are about requests, so if there is any filter, entries about the world as a whole are left out. */
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
    /** The value of `after` for the next page. */
    next: more && last !== undefined ? last.seq : journal.count,
    /** Whether the next page already has entries. */
    more,
    /** How many requests after `after` the journal has dropped, whether or not they match the filters. */
    dropped: Math.max(0, journal.count - journal.kept - after)
  }
}
