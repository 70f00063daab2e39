/**
 * How late deletions and new nodes are reported at most, worked out by hand from the table of what requests are for
 * (docs/reference/latency.md). Nothing here is taken from the code that keeps to it, so neither can be wrong without the other.
 */
import type { Budget } from "../../../src/observe/RequestShare.ts"
import type { Loss } from "./deletions.ts"

const second = 1000
const hour = 3_600_000

/** A loss, until it is known how long its run waits. */
export type Asked = Omit<Loss, "withinMillis">

/** Each page of a sweep adds 87 nodes. */
const pagesOf = (size: number): number => (size < 100 ? 1 : Math.ceil(size / 87))

/** From one sweep to the next in row 3: an account of one page every 9 s, or 150 pages an hour; as set if that is less often. */
const plannedMillis = (size: number, intervalMillis: number | null): number =>
  Math.max(size < 100 ? 9 * second : (pagesOf(size) * hour) / 150, intervalMillis ?? 0)

/** Rows 2 and 3, an hour: the one page, every tenth time twice; or the end of the list every 9 s, and the pages. */
const promisedPerHour = (size: number, intervalMillis: number | null): number => {
  const sweeps = hour / plannedMillis(size, intervalMillis)
  return size < 100 ? 1.1 * sweeps : 400 + pagesOf(size) * sweeps
}

/** The same of the largest accounts: the end of the list every 13.5 s, and 360 pages. */
export const maxPromisedPerHour = 627

/** The share: requests of an hour, and of the window in which row 1 counts, which is an hour or shorter. */
const shareOf = ({ requests, windowMillis }: Budget) => ({
  perHour: (requests * hour) / windowMillis,
  windowMillis: Math.min(windowMillis, hour),
  hours: Math.min(windowMillis, hour) / hour
})

/** Row 1, of one window. */
const certainReads = (budget: Budget): number => {
  const { hours, perHour } = shareOf(budget)
  return Math.ceil(Math.max(perHour / 10, Math.min(170, perHour / 2)) * hours)
}

/** By how much rows 2 and 3 are stretched where the share is too small for them: it keeps room for 113 reads, at most half of it. */
const stretchOf = (size: number, intervalMillis: number | null, budget: Budget): number => {
  const { perHour } = shareOf(budget)
  const promised = promisedPerHour(size, intervalMillis)
  return perHour >= promised ? 1 : promised / (perHour - Math.min(113, perHour / 2))
}

/** From one sweep to the next, whatever is left for sweeps more often than that. */
export const sweepMillis = (size: number, intervalMillis: number | null, budget: Budget): number =>
  plannedMillis(size, intervalMillis) * stretchOf(size, intervalMillis, budget)

/**
 * So many windows after the first take the reads that prove deletions: two of each node. A window has the reads of row 1, or what rows
 * 2 and 3 leave; of the first one some are `used`.
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

/** A request that fails is sent again, after a pause. */
const againOf = ({ lies }: Asked): number => (lies.failing > 0 ? 2 : 1)

/** Whether sweeps are set to be more often than promised: then row 5 takes what is left. */
const isSet = ({ budget, intervalMillis, size }: Asked): boolean =>
  intervalMillis !== null && intervalMillis < sweepMillis(size, null, budget)

const readsOf = (loss: Asked): number => {
  const { budget, intervalMillis, isIll, lies, lost, size } = loss
  const used =
    // Row 5 takes what is left, and of row 1 what the margins of the promise pay for.
    (isSet(loss) ? 57 * shareOf(budget).hours : 0) +
    // Of each node that was hidden before, twice.
    (isIll ? 0.4 * size : 0) +
    // Nodes that lists lack and reads show get half of row 1 at most, and had it before.
    (lies.lacking > 0 ? Infinity : 0)
  const promised = isSet(loss) ? Infinity : promisedPerHour(size, intervalMillis)
  return readsMillis(lost, budget, { promised, used, part: lies.lacking > 0 ? 0.5 : 1 })
}

/**
 * Sweeps: the one under way may have read the place of a node already, two lack it, one ends after the first 404, and in a freeze one more
 * after the hold. Between them are the hold, a grace and in a freeze another.
 */
export const deletedWithinMillis = (loss: Asked): number => {
  const { budget, graceMillis, holdMillis, intervalMillis, lies, size } = loss
  const sweeps = 5 * sweepMillis(size, intervalMillis, budget)
  return lies.staleMillis + againOf(loss) * (readsOf(loss) + sweeps) + holdMillis + 2 * graceMillis + 10 * second
}

/**
 * Sweeps as set that prove something use what is kept for the reads of row 1. When those come, rows 2 and 3 pay for them, for as long as it
 * takes to send them.
 */
const lentMillis = (loss: Asked): number => {
  const { perHour } = shareOf(loss.budget)
  return isSet(loss) ? (Math.max(113, perHour / 10 - 57) * hour) / perHour : 0
}

/**
 * New nodes: 10 s, in an account of one page as sweeps are set. Where the share has no room for the reads of row 1 beside the promise, they
 * take its place for as long as it takes to send them.
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
