/**
 * What is known of others on the same key. They show as drops of what is left that our own requests cannot explain.
 */
import type { View } from "./View.ts"

/** Requests of others, and the time watched, in milliseconds; both fade. */
export interface Others {
  readonly requests: number
  readonly millis: number
}

/** Where the present watch for others began: the view, and what was known of them then. */
export interface Watch {
  readonly view: View
  readonly others: Others
}

/** What is known, and the watch that goes on. */
export interface Watching {
  readonly others: Others
  readonly watch: Watch | undefined
}

export const unwatched: Watching = { others: { requests: 0, millis: 0 }, watch: undefined }

/** Others' requests are counted over at least this long, and forgotten with this half-life. */
const leastWatchMillis = 1000
const halfLifeMillis = 3_600_000

/** A watch goes on for this long. */
const watchMillis = 60_000

/** How far ahead room is kept for them. */
const horizonMillis = 10_000

/** Most of the allowance that is kept free for others: they come in bursts, and a burst says little about what follows. */
const mostRoom = 0.02

/** Requests never used up while others use the same key: one of theirs and one of ours may cross. */
const left = 2

export const areThere = ({ requests }: Others): boolean => requests >= 0.5

/** Requests to leave to others, who see the same number as we do and may send until our next request arrives. */
export const room = (others: Others, view: View, instant: number): number => {
  if (!areThere(others)) return 0
  const perMilli = others.requests / Math.max(others.millis, leastWatchMillis)
  const likely = perMilli * Math.min(horizonMillis, instant - view.sentAt + 500)
  return Math.ceil(Math.min(likely, view.limit * mostRoom)) + left
}

/** Requests of ours that a view may have counted or not. */
const uncertain = ({ sentBy, settledBefore }: View): number => sentBy - settledBefore - 1

/**
 * What the next view shows. `refilled` is what came back since the watch began, at least; with `anew` the next watch begins
 * with this view.
 */
export const watched = ({ others: known, watch }: Watching, view: View, refilled: number, anew: boolean): Watching => {
  // Under another limit what is left is counted anew.
  if (watch === undefined || watch.view.limit !== view.limit) return { others: known, watch: { view, others: known } }
  const { others, view: first } = watch
  const millis = Math.max(0, view.receivedAt - first.receivedAt)
  // Ours at most: everything sent by now that had not settled before the first view was asked for, but for its own request.
  const ours = view.sentBy - first.settledBefore - 1
  const unexplained = Math.max(0, first.remaining + refilled - view.remaining - ours)
  // Bounds from below: what one view shows the next may not.
  const requests = Math.max(known.requests, others.requests + unexplained)
  if (!anew && millis < watchMillis && uncertain(view) >= uncertain(first)) {
    return { others: { requests, millis: others.millis + millis }, watch }
  }
  const fade = 0.5 ** (millis / halfLifeMillis)
  const faded = { requests: requests * fade, millis: others.millis * fade + millis }
  return { others: faded, watch: { view, others: faded } }
}

/** One request of theirs that shows in another way than by what is left. */
export const oneMore = ({ others, watch }: Watching): Watching => {
  const more = ({ millis, requests }: Others): Others => ({ requests: requests + 1, millis })
  return { others: more(others), watch: watch && { view: watch.view, others: more(watch.others) } }
}
