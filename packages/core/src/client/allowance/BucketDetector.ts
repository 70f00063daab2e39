/**
 * Detects a token bucket. Its time to the reset is in proportion to the missing requests, so every report puts bounds on the
 * milliseconds that one request takes to refill.
 */
import { clockMillis, roundingMillis, type Report } from "./AllowanceReport.ts"

/** Bounds on the milliseconds per request that explain every report since the first. */
export interface Bucket {
  readonly minMillisPerRequest: number
  readonly maxMillisPerRequest: number
  readonly minMissing: number
  readonly maxMissing: number
  /** The latest reset, and how far it has moved in small steps. */
  readonly resetSeconds: number
  readonly creptMillis: number
  /** Largest error of a report's time to the reset. */
  readonly slackMillis: number
  readonly sightings: number
}

/**
 * A bucket is believed after this many sightings, once the time to the reset has grown by so much with the missing requests,
 * or the reset has moved by so much in small steps while it was at least that far away, as when a bucket stays empty.
 */
const enoughSightings = 4
const clearMillis = 5000

/** A reset that moves by more than this at once is that of a window. */
const creepMillis = 3000

/** Fewer missing requests than this show nothing, because all numbers are rounded. */
const minSignificantMissing = 3

/** Notes a report. One that contradicts the notes starts them anew. */
export const noted = (notes: Bucket | undefined, report: Report): Bucket | undefined => {
  const missing = report.limit - report.remaining
  if (missing < minSignificantMissing) return notes
  const millis = report.resetAround - (report.sentAt + report.receivedAt) / 2
  const slack = roundingMillis + clockMillis + (report.receivedAt - report.sentAt)
  // `remaining` is a whole number, rounded down: up to one request fewer is missing.
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

/** Growth that cannot come from the slack at both ends and the fraction that `remaining` leaves out. */
const clear = ({ maxMillisPerRequest, slackMillis }: Bucket) =>
  Math.max(clearMillis, 2 * slackMillis + maxMillisPerRequest)

/** Whether the notes prove a token bucket. */
export const isBelieved = (notes: Bucket | undefined): notes is Bucket =>
  notes !== undefined &&
  notes.sightings >= enoughSightings &&
  Math.max(notes.creptMillis, (notes.maxMissing - notes.minMissing) * notes.minMillisPerRequest) >= clear(notes) &&
  notes.maxMillisPerRequest <= 1.5 * notes.minMillisPerRequest
