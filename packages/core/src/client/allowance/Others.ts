/**
 * What is known of others on the same key. They show as drops of what is left that our own requests cannot explain.
 */
import type { View } from "./View.ts"

/** Requests of others, and the time watched, in milliseconds; both fade. */
export interface Others {
  readonly requests: number
  readonly millis: number
}

/** Where a watch for others began: the view, and what was known of them then. */
export interface Watch {
  readonly view: View
  readonly others: Others
}

export const nobody: Others = { requests: 0, millis: 0 }

/** Others' requests are counted over at least this long, and forgotten with this half-life. */
const leastWatchMillis = 1000
const halfLifeMillis = 3_600_000

/** How far ahead room is kept for them. */
const horizonMillis = 10_000

/** Most of the allowance that is kept free for others: they come in bursts, and a burst says little about what follows. */
const mostRoom = 0.02

/** Requests never used up while others use the same key: one of theirs and one of ours may cross. */
const left = 2

export const areThere = ({ requests }: Others): boolean => requests >= 0.5

/** Requests to leave to others who see the same number as we do, and may send until our next request arrives. */
export const room = (others: Others, view: View, instant: number): number => {
  if (!areThere(others)) return 0
  const perMilli = others.requests / Math.max(others.millis, leastWatchMillis)
  const likely = perMilli * Math.min(horizonMillis, instant - view.sentAt + 500)
  return Math.ceil(Math.min(likely, view.limit * mostRoom)) + left
}

/** What others used since the watch began, at least. `refilled`: what came back meanwhile, at least. */
export const seen = ({ others, view: first }: Watch, view: View, refilled: number): Others => {
  const millis = view.receivedAt - first.receivedAt
  // Ours at most: everything sent by now that had not settled before the first view was asked for, but for its own request.
  const ours = view.sentBy - first.settledBefore - 1
  const unexplained = Math.max(0, first.remaining + refilled - view.remaining - ours)
  const fade = 0.5 ** (millis / halfLifeMillis)
  return { requests: others.requests * fade + unexplained, millis: others.millis * fade + millis }
}
