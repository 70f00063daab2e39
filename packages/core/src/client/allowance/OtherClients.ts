/**
 * What is known of others on the same key. They show as drops of what is left that our own requests cannot explain.
 */
import type { Report } from "./AllowanceReport.ts"

/** Requests of others, and the time watched, in milliseconds; both fade. */
export interface OtherClients {
  readonly requests: number
  readonly millis: number
}

/** Where the present watch for others began: the report, and what was known of them then. */
export interface Watch {
  readonly report: Report
  readonly otherClients: OtherClients
}

/** What is known, and the watch that goes on. */
export interface Watching {
  readonly otherClients: OtherClients
  readonly watch: Watch | undefined
}

export const unwatched: Watching = { otherClients: { requests: 0, millis: 0 }, watch: undefined }

/** OtherClients' requests are counted over at least this long, and forgotten with this half-life. */
const minWatchMillis = 1000
const halfLifeMillis = 3_600_000

/** A watch goes on for this long. */
const watchMillis = 60_000

/** How far ahead room is kept for them. */
const horizonMillis = 10_000

/** Most of the allowance that is kept free for others: they come in bursts, and a burst says little about what follows. */
const maxRoomShare = 0.02

/** Requests never used up while others use the same key: one of theirs and one of ours may cross. */
const left = 2

export const areThere = ({ requests }: OtherClients): boolean => requests >= 0.5

/** Requests to leave to others, who see the same number as we do and may send until our next request arrives. */
export const room = (otherClients: OtherClients, report: Report, instant: number): number => {
  if (!areThere(otherClients)) return 0
  const perMilli = otherClients.requests / Math.max(otherClients.millis, minWatchMillis)
  const likely = perMilli * Math.min(horizonMillis, instant - report.sentAt + 500)
  return Math.ceil(Math.min(likely, report.limit * maxRoomShare)) + left
}

/** Requests of ours that a report may have counted or not. */
const uncertain = ({ sentBy, endedBefore }: Report): number => sentBy - endedBefore - 1

/**
 * What the next report shows. `refilled` is what came back since the watch began, at least; with `anew` the next watch begins
 * with this report.
 */
export const watched = (
  { otherClients: known, watch }: Watching,
  report: Report,
  refilled: number,
  anew: boolean
): Watching => {
  // Under another limit what is left is counted anew.
  if (watch === undefined || watch.report.limit !== report.limit)
    return { otherClients: known, watch: { report, otherClients: known } }
  const { otherClients, report: first } = watch
  const millis = Math.max(0, report.receivedAt - first.receivedAt)
  // Ours at most: everything sent by now that had not ended before the first report was asked for, but for its own request.
  const ours = report.sentBy - first.endedBefore - 1
  const unexplained = Math.max(0, first.remaining + refilled - report.remaining - ours)
  // Bounds from below: what one report shows the next may not.
  const requests = Math.max(known.requests, otherClients.requests + unexplained)
  if (!anew && millis < watchMillis && uncertain(report) >= uncertain(first)) {
    return { otherClients: { requests, millis: otherClients.millis + millis }, watch }
  }
  const fade = 0.5 ** (millis / halfLifeMillis)
  const faded = { requests: requests * fade, millis: otherClients.millis * fade + millis }
  return { otherClients: faded, watch: { report, otherClients: faded } }
}

/** One request of theirs that shows in another way than by what is left. */
export const oneMore = ({ otherClients, watch }: Watching): Watching => {
  const more = ({ millis, requests }: OtherClients): OtherClients => ({ requests: requests + 1, millis })
  return {
    otherClients: more(otherClients),
    watch: watch && { report: watch.report, otherClients: more(watch.otherClients) }
  }
}
