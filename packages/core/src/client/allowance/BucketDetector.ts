/**
 * Detects a token bucket. In a token bucket, the time to the reset is proportional to the number of missing requests, so each report bounds
 * the milliseconds that one request takes to refill.
 */
import { clockMillis, roundingMillis, type Report } from "./AllowanceReport.ts"

/** The milliseconds per request that explain every report since the first, as bounds. */
export interface Bucket {
  readonly minMillisPerRequest: number
  readonly maxMillisPerRequest: number
  readonly minMissing: number
  readonly maxMissing: number
  /** The latest reset, and the distance that it has moved in small steps. */
  readonly resetSeconds: number
  readonly creptMillis: number
  /** Largest error of a report's time to reset. */
  readonly slackMillis: number
  readonly sightings: number
}

/**
 * A bucket is believed after this many sightings, and only with one of two kinds of evidence. Either the time to the
 * reset has grown by `clearMillis` along with the missing requests. Or the reset has moved in small steps by
 * `clearMillis` while it was at least that far away: the reset of an empty bucket moves like this.
 */
const enoughSightings = 4
const clearMillis = 5000

/** A reset that jumps further than this belongs to a window. */
const creepMillis = 3000

/** Fewer missing requests prove nothing, because all numbers are rounded. */
const minSignificantMissing = 3

/** Adds a report. A contradiction restarts the notes. */
export const noted = (notes: Bucket | undefined, report: Report): Bucket | undefined => {
  const missing = report.limit - report.remaining
  if (missing < minSignificantMissing) return notes
  const millis = report.resetAround - (report.sentAt + report.receivedAt) / 2
  const slack = roundingMillis + clockMillis + (report.receivedAt - report.sentAt)
  // `remaining` is rounded down, so up to one request fewer is missing.
  const minMillisPerRequest = (millis - slack) / missing
  const maxMillisPerRequest = (millis + slack) / (missing - 1)
  const { resetSeconds } = report
  const first = {
    minMillisPerRequest,
    maxMillisPerRequest,
    minMissing: missing,
    maxMissing: missing,
    resetSeconds,
    creptMillis: 0,
    slackMillis: slack,
    sightings: 1
  }
  if (
    notes === undefined ||
    minMillisPerRequest > notes.maxMillisPerRequest ||
    maxMillisPerRequest < notes.minMillisPerRequest
  )
    return first
  const movedMillis = Math.max(0, resetSeconds - notes.resetSeconds) * 1000
  return {
    minMillisPerRequest: Math.max(minMillisPerRequest, notes.minMillisPerRequest),
    maxMillisPerRequest: Math.min(maxMillisPerRequest, notes.maxMillisPerRequest),
    minMissing: Math.min(notes.minMissing, missing),
    maxMissing: Math.max(notes.maxMissing, missing),
    resetSeconds: Math.max(resetSeconds, notes.resetSeconds),
    slackMillis: Math.max(slack, notes.slackMillis),
    creptMillis: notes.creptMillis + (movedMillis <= creepMillis && millis >= clearMillis ? movedMillis : 0),
    sightings: notes.sightings + 1
  }
}

/**
 * The growth that proves a bucket: more than the errors at both ends, and more than the fraction of a request that
 * `remaining` omits.
 */
const clear = ({ maxMillisPerRequest, slackMillis }: Bucket) =>
  Math.max(clearMillis, 2 * slackMillis + maxMillisPerRequest)

/** Whether the notes prove a token bucket. */
export const isBelieved = (notes: Bucket | undefined): notes is Bucket =>
  notes !== undefined &&
  notes.sightings >= enoughSightings &&
  Math.max(notes.creptMillis, (notes.maxMissing - notes.minMissing) * notes.minMillisPerRequest) >= clear(notes) &&
  notes.maxMillisPerRequest <= 1.5 * notes.minMillisPerRequest
