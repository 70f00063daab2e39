/** Estimates the use by other clients with the same key. Such use shows as a drop of `remaining` that our requests do not explain. */
import type { Report } from "./AllowanceReport.ts"

/** Requests of other clients, and the time watched, in milliseconds; both decay. */
export interface OtherClients {
  readonly requests: number
  readonly millis: number
}

/** The start of the current watch: the report, and the estimate at that time. */
export interface Watch {
  readonly report: Report
  readonly otherClients: OtherClients
}

/** The estimate and the current watch. */
export interface Watching {
  readonly otherClients: OtherClients
  readonly watch: Watch | undefined
}

export const unwatched: Watching = { otherClients: { requests: 0, millis: 0 }, watch: undefined }

/** The minimum time over which other clients' requests are counted, and the half-life of the decay. */
const minWatchMillis = 1000
const halfLifeMillis = 3_600_000

/** The length of a watch. */
const watchMillis = 60_000

/** Keep room for the requests that other clients are likely to send within this time. */
const horizonMillis = 10_000

/**
 * Largest share of the allowance kept for other clients. It is small because their requests come in bursts, and a burst predicts little.
 */
const maxRoomShare = 0.02

/** While other clients use the key, always leave this many requests, because their requests and ours may cross. */
const minLeftRequests = 2

export const areActive = ({ requests }: OtherClients): boolean => requests >= 0.5

/** Requests to leave to other clients, which see the same number and may send until our next request arrives. */
export const room = (otherClients: OtherClients, report: Report, instant: number): number => {
  if (!areActive(otherClients)) return 0
  const perMilli = otherClients.requests / Math.max(otherClients.millis, minWatchMillis)
  const likely = perMilli * Math.min(horizonMillis, instant - report.sentAt + 500)
  return Math.ceil(Math.min(likely, report.limit * maxRoomShare)) + minLeftRequests
}

/** The number of our requests that a report may or may not have counted. */
const uncertain = ({ sentBy, endedBefore }: Report): number => sentBy - endedBefore - 1

/** Evaluates the next report. `refilled` is the minimum refill since the watch began; with `anew`, a new watch begins with this report. */
export const watched = (
  { otherClients: known, watch }: Watching,
  report: Report,
  refilled: number,
  anew: boolean
): Watching => {
  // Numbers under different limits are not comparable.
  if (watch === undefined || watch.report.limit !== report.limit)
    return { otherClients: known, watch: { report, otherClients: known } }
  const { otherClients, report: first } = watch
  const millis = Math.max(0, report.receivedAt - first.receivedAt)
  // The largest possible number of our requests: all that were sent by now and had not ended before the first report's request was sent,
  // without that request itself.
  const ours = report.sentBy - first.endedBefore - 1
  const unexplained = Math.max(0, first.remaining + refilled - report.remaining - ours)
  // These are lower bounds: the next report may show fewer.
  const requests = Math.max(known.requests, otherClients.requests + unexplained)
  if (!anew && millis < watchMillis && uncertain(report) >= uncertain(first)) {
    return { otherClients: { requests, millis: otherClients.millis + millis }, watch }
  }
  const fade = 0.5 ** (millis / halfLifeMillis)
  const faded = { requests: requests * fade, millis: otherClients.millis * fade + millis }
  return { otherClients: faded, watch: { report, otherClients: faded } }
}

/** Records one more request of another client, which showed in some other way than a drop of `remaining`. */
export const oneMore = ({ otherClients, watch }: Watching): Watching => {
  const more = ({ millis, requests }: OtherClients): OtherClients => ({ requests: requests + 1, millis })
  return {
    otherClients: more(otherClients),
    watch: watch && { report: watch.report, otherClients: more(watch.otherClients) }
  }
}
