/**
 * What is known of a bucket that refills evenly. It shows by the time to the reset, which stays in proportion to what is
 * missing: every view of such a bucket puts bounds on the milliseconds that one request takes to come back.
 */
import { roundingMillis, type View } from "./View.ts"

/** Bounds on the milliseconds per request that explain every view since the first, and how much of the bucket they cover. */
export interface EvenRefill {
  readonly atLeast: number
  readonly atMost: number
  readonly leastMissing: number
  readonly mostMissing: number
  readonly sightings: number
}

/** Believed after this many sightings, once the time to the reset has grown by this much with what was missing. */
const enoughSightings = 4
const clearGrowthMillis = 5000

/** Less than this missing says nothing, for all is rounded. */
const leastTelling = 3

/** Takes note of a view. One that the notes cannot explain begins them anew. */
export const noted = (notes: EvenRefill | undefined, view: View): EvenRefill | undefined => {
  const missing = view.limit - view.remaining
  if (missing < leastTelling) return notes
  const millis = view.resetAround - (view.sentAt + view.receivedAt) / 2
  const slack = roundingMillis + (view.receivedAt - view.sentAt)
  // `remaining` is a whole number, so up to one more request is missing than it says.
  const atLeast = (millis - slack) / (missing + 1)
  const atMost = (millis + slack) / missing
  const first: EvenRefill = { atLeast, atMost, leastMissing: missing, mostMissing: missing, sightings: 1 }
  if (notes === undefined || atLeast > notes.atMost || atMost < notes.atLeast) return first
  return {
    atLeast: Math.max(atLeast, notes.atLeast),
    atMost: Math.min(atMost, notes.atMost),
    leastMissing: Math.min(notes.leastMissing, missing),
    mostMissing: Math.max(notes.mostMissing, missing),
    sightings: notes.sightings + 1
  }
}

/** Whether the notes are enough to go by. */
export const isBelieved = (notes: EvenRefill | undefined): notes is EvenRefill =>
  notes !== undefined &&
  notes.sightings >= enoughSightings &&
  (notes.mostMissing - notes.leastMissing) * notes.atLeast >= clearGrowthMillis &&
  notes.atMost <= 1.5 * notes.atLeast
