/**
 * What is known of other clients on the same key. They show as drops of `remaining` that our own requests cannot explain.
 */
import type { Report } from "./AllowanceReport.ts"

/** Requests of other clients, and the time watched, in milliseconds; both fade. */
export interface OtherClients {
  readonly requests: number
  readonly millis: number
}

/** Where the current watch for other clients began: the report, and what was known of them then. */
export interface Watch {
  readonly report: Report
  readonly otherClients: OtherClients
}

/** What is known, and the current watch. */
export interface Watching {
  readonly otherClients: OtherClients
  readonly watch: Watch | undefined
}

export const unwatched: Watching = { otherClients: { requests: 0, millis: 0 }, watch: undefined }

/** Their requests are counted over at least this long, and fade with this half-life. */
const minWatchMillis = 1000
const halfLifeMillis = 3_600_000

/** A watch lasts this long. */
const watchMillis = 60_000

/** Room is kept for their requests of this time. */
const horizonMillis = 10_000

/** Largest share of the allowance that is kept for other clients: they come in bursts, and a burst predicts little. */
const maxRoomShare = 0.02

/** Requests never used up while other clients use the key: one of theirs and one of ours may cross. */
const minLeftRequests = 2

export const areActive = ({ requests }: OtherClients): boolean => requests >= 0.5

/** Requests to leave to other clients, which see the same number as we do and may send until our next request arrives. */
export const room = (otherClients: OtherClients, report: Report, instant: number): number => {
  if (!areActive(otherClients)) return 0
  const perMilli = otherClients.requests / Math.max(otherClients.millis, minWatchMillis)
  const likely = perMilli * Math.min(horizonMillis, instant - report.sentAt + 500)
  return Math.ceil(Math.min(likely, report.limit * maxRoomShare)) + minLeftRequests
}

/** Requests of ours that a report may have counted or not. */
const uncertain = ({ sentBy, endedBefore }: Report): number => sentBy - endedBefore - 1

/**
 * What the next report shows. `refilled` is the minimum refill since the watch began; with `anew` the next watch begins with
 * this report.
 */
export const watched = (
  { otherClients: known, watch }: Watching,
  report: Report,
  refilled: number,
  anew: boolean
): Watching => {
  // Numbers under different limits cannot be compared.
  if (watch === undefined || watch.report.limit !== report.limit)
    return { otherClients: known, watch: { report, otherClients: known } }
  const { otherClients, report: first } = watch
  const millis = Math.max(0, report.receivedAt - first.receivedAt)
  // The most of ours: everything sent by now that had not ended before the request of the first report, without that one.
  const ours = report.sentBy - first.endedBefore - 1
  const unexplained = Math.max(0, first.remaining + refilled - report.remaining - ours)
  // Lower bounds: the next report may show fewer.
  const requests = Math.max(known.requests, otherClients.requests + unexplained)
  if (!anew && millis < watchMillis && uncertain(report) >= uncertain(first)) {
    return { otherClients: { requests, millis: otherClients.millis + millis }, watch }
  }
  const fade = 0.5 ** (millis / halfLifeMillis)
  const faded = { requests: requests * fade, millis: otherClients.millis * fade + millis }
  return { otherClients: faded, watch: { report, otherClients: faded } }
}

/** One more request of theirs, which shows in another way than by `remaining`. */
export const oneMore = ({ otherClients, watch }: Watching): Watching => {
  const more = ({ millis, requests }: OtherClients): OtherClients => ({ requests: requests + 1, millis })
  return {
    otherClients: more(otherClients),
    watch: watch && { report: watch.report, otherClients: more(watch.otherClients) }
  }
}
