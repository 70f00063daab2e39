/**
 * What is known of a bucket that refills evenly. It shows by the time to the reset, which stays in proportion to what is
 * missing: every report of such a bucket puts bounds on the milliseconds that one request takes to come back.
 */
import { clockMillis, roundingMillis, type Report } from "./AllowanceReport.ts"

/** Bounds on the milliseconds per request that explain every report since the first. */
export interface Bucket {
  readonly atLeast: number
  readonly atMost: number
  readonly minMissing: number
  readonly maxMissing: number
  /** The latest reset, and by how much it has crept on. */
  readonly resetSeconds: number
  readonly creptMillis: number
  /** How far the time to the reset of any report may be from what it was taken for. */
  readonly slackMillis: number
  readonly sightings: number
}

/**
 * Believed after this many sightings, once the time to the reset has grown by so much with what was missing, or the reset
 * has moved on by so much in small steps and was at least that far away, as with a bucket that stays as empty as it is.
 */
const enoughSightings = 4
const clearMillis = 5000

/** A reset that moves on by more than this at once is that of a window. */
const creepMillis = 3000

/** Less than this missing says nothing, for all is rounded. */
const minTellingMissing = 3

/** Takes note of a report. One that the notes cannot explain begins them anew. */
export const noted = (notes: Bucket | undefined, report: Report): Bucket | undefined => {
  const missing = report.limit - report.remaining
  if (missing < minTellingMissing) return notes
  const millis = report.resetAround - (report.sentAt + report.receivedAt) / 2
  const slack = roundingMillis + clockMillis + (report.receivedAt - report.sentAt)
  // `remaining` is a whole number, rounded down: up to one request less is missing than it says.
  const atLeast = (millis - slack) / missing
  const atMost = (millis + slack) / (missing - 1)
  const { resetSeconds } = report
  const first = {
    atLeast,
    atMost,
    minMissing: missing,
    maxMissing: missing,
    resetSeconds,
    creptMillis: 0,
    slackMillis: slack,
    sightings: 1
  }
  if (notes === undefined || atLeast > notes.atMost || atMost < notes.atLeast) return first
  const movedMillis = Math.max(0, resetSeconds - notes.resetSeconds) * 1000
  return {
    atLeast: Math.max(atLeast, notes.atLeast),
    atMost: Math.min(atMost, notes.atMost),
    minMissing: Math.min(notes.minMissing, missing),
    maxMissing: Math.max(notes.maxMissing, missing),
    resetSeconds: Math.max(resetSeconds, notes.resetSeconds),
    slackMillis: Math.max(slack, notes.slackMillis),
    creptMillis: notes.creptMillis + (movedMillis <= creepMillis && millis >= clearMillis ? movedMillis : 0),
    sightings: notes.sightings + 1
  }
}

/** Growth that the slack at both ends, and the part of a request that `remaining` leaves out, cannot feign. */
const clear = ({ atMost, slackMillis }: Bucket) => Math.max(clearMillis, 2 * slackMillis + atMost)

/** Whether the notes are enough to go by. */
export const isBelieved = (notes: Bucket | undefined): notes is Bucket =>
  notes !== undefined &&
  notes.sightings >= enoughSightings &&
  Math.max(notes.creptMillis, (notes.maxMissing - notes.minMissing) * notes.atLeast) >= clear(notes) &&
  notes.atMost <= 1.5 * notes.atLeast
