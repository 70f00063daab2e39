/**
 * The latest time at which deletions and new nodes may be reported, calculated by hand from the table of requests in
 * docs/reference/latency.md. Nothing here comes from the code under test, so a mistake in only one of the two is noticed.
 */
import type { Budget } from "../../../src/observe/RequestShare.ts"
import type { Loss } from "./deletions.ts"

const second = 1000
const hour = 3_600_000

/** A loss without the time for which its run waits. */
export type Asked = Omit<Loss, "withinMillis">

/** Each page of a sweep adds 87 nodes. */
const pagesOf = (size: number): number => (size < 100 ? 1 : Math.ceil(size / 87))

/**
 * The interval of sweeps in row 3: 9 s for an account of one page, otherwise 150 pages an hour; or the configured interval if it is longer.
 */
const plannedMillis = (size: number, intervalMillis: number | null): number =>
  Math.max(size < 100 ? 9 * second : (pagesOf(size) * hour) / 150, intervalMillis ?? 0)

/**
 * The requests an hour of rows 2 and 3. For an account of one page: that page, every tenth time twice. Otherwise: the end of the list every
 * 9 s, and the pages.
 */
const promisedPerHour = (size: number, intervalMillis: number | null): number => {
  const sweeps = hour / plannedMillis(size, intervalMillis)
  return size < 100 ? 1.1 * sweeps : 400 + pagesOf(size) * sweeps
}

/** The same for the largest accounts: the end of the list every 13.5 s, and 360 pages an hour. */
export const maxPromisedPerHour = 627

/** The share: requests an hour, and the window in which row 1 counts, which is an hour or shorter. */
const shareOf = ({ requests, windowMillis }: Budget) => ({
  perHour: (requests * hour) / windowMillis,
  windowMillis: Math.min(windowMillis, hour),
  hours: Math.min(windowMillis, hour) / hour
})

/** The requests of row 1 in one window. */
const certainReads = (budget: Budget): number => {
  const { hours, perHour } = shareOf(budget)
  return Math.ceil(Math.max(perHour / 10, Math.min(170, perHour / 2)) * hours)
}

/**
 * The factor by which rows 2 and 3 are stretched if the share is too small for them. The share keeps room for 113 reads, but at most half
 * of itself.
 */
const stretchOf = (size: number, intervalMillis: number | null, budget: Budget): number => {
  const { perHour } = shareOf(budget)
  const promised = promisedPerHour(size, intervalMillis)
  return perHour >= promised ? 1 : promised / (perHour - Math.min(113, perHour / 2))
}

/** The interval of sweeps without additional ones. */
export const sweepMillis = (size: number, intervalMillis: number | null, budget: Budget): number =>
  plannedMillis(size, intervalMillis) * stretchOf(size, intervalMillis, budget)

/**
 * How long the reads that prove deletions take, in windows after the first: two for each node. A window has room for the reads of row 1, or
 * for what rows 2 and 3 leave; in the first window some of that is `used`.
 */
export const readsMillis = (
  lost: number,
  budget: Budget,
  { part = 1, promised, used = 0 }: { readonly promised: number; readonly used?: number; readonly part?: number }
): number => {
  const { hours, perHour, windowMillis } = shareOf(budget)
  const each = Math.max(certainReads(budget), (perHour - promised) * hours) * part
  const later = 2 * lost - Math.max(0, each - used)
  return later <= 0 ? 0 : Math.ceil(later / each) * windowMillis
}

/** A failed request is repeated after a pause. */
const againOf = ({ lies }: Asked): number => (lies.failing > 0 ? 2 : 1)

/** Whether the configured sweeps are more frequent than promised, so that row 5 takes what is left. */
const isSet = ({ budget, intervalMillis, size }: Asked): boolean =>
  intervalMillis !== null && intervalMillis < sweepMillis(size, null, budget)

const readsOf = (loss: Asked): number => {
  const { budget, intervalMillis, isIll, lies, lost, size } = loss
  const used =
    // Row 5 takes the remaining requests, and the part of row 1 that the margins of the promise cover.
    (isSet(loss) ? 57 * shareOf(budget).hours : 0) +
    // Two reads of each node that was hidden before.
    (isIll ? 0.4 * size : 0) +
    // Reads of nodes that are missing from lists although reads show them take up to half of row 1, and have taken it before the loss.
    (lies.lacking > 0 ? Infinity : 0)
  const promised = isSet(loss) ? Infinity : promisedPerHour(size, intervalMillis)
  return readsMillis(lost, budget, { promised, used, part: lies.lacking > 0 ? 0.5 : 1 })
}

/**
 * The sum of these sweeps: the running one, which may already have read the node's place; two without the node; one that ends after the
 * first 404; in a freeze, one more after the hold. To this add the hold, a grace and, in a freeze, another grace.
 */
export const deletedWithinMillis = (loss: Asked): number => {
  const { budget, graceMillis, holdMillis, intervalMillis, lies, size } = loss
  const sweeps = 5 * sweepMillis(size, intervalMillis, budget)
  return lies.staleMillis + againOf(loss) * (readsOf(loss) + sweeps) + holdMillis + 2 * graceMillis + 10 * second
}

/**
 * Configured sweeps that prove something use the requests that are reserved for the reads of row 1. When those reads come, rows 2 and 3
 * pay for them until they are sent.
 */
const lentMillis = (loss: Asked): number => {
  const { perHour } = shareOf(loss.budget)
  return isSet(loss) ? (Math.max(113, perHour / 10 - 57) * hour) / perHour : 0
}

/**
 * New nodes: 10 s; in an account of one page, the configured interval of sweeps. If the share has no room for the reads of row 1 next to
 * the promise, they displace the promise until they are sent.
 */
export const newWithinMillis = (loss: Asked): number => {
  const { budget, intervalMillis, lies, size } = loss
  const isOnePage = size < 100
  const promised =
    Math.max(10 * second, isOnePage ? (intervalMillis ?? 0) : 0) * stretchOf(size, intervalMillis, budget)
  const { perHour } = shareOf(budget)
  const proving = perHour < 700 ? (certainReads(budget) * hour) / perHour : lentMillis(loss)
  // Pages of a sweep and the end of the list wait for each other while doubts cannot be settled.
  return promised * againOf(loss) * (isOnePage || lies.hanging === 0 ? 1 : 2) + proving + second
}
