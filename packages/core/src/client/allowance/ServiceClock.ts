/**
 * What is known of the service's clock: bounds on how far it is ahead of our monotonic one, drawn from `Date` headers and round trips.
 * `Date` has whole seconds, so one reply says little; the bounds of many replies intersect to about a round trip.
 */

/** Bounds on (service's clock − our monotonic one), in milliseconds. */
export interface ServiceClock {
  readonly aheadAtLeastMillis: number
  readonly aheadAtMostMillis: number
}

/** A round trip whose reply said when, by the service's clock, it was written. */
export interface Stamp {
  readonly sentAt: number
  readonly receivedAt: number
  /** The reply's `Date`, milliseconds since the epoch; the truth lies within the second that begins there. */
  readonly date: number
}

const boundsOf = ({ date, receivedAt, sentAt }: Stamp): ServiceClock => ({
  aheadAtLeastMillis: date - receivedAt,
  aheadAtMostMillis: date + 1000 - sentAt
})

/** Without any `Date` the service's clock is taken to agree with our wall clock, so far ahead, within two seconds. */
export const assumed = (wallAheadMillis: number): ServiceClock => ({
  aheadAtLeastMillis: wallAheadMillis - 2000,
  aheadAtMostMillis: wallAheadMillis + 2000
})

/** Narrows the bounds by one more reply. Where they contradict each other a clock has jumped, and the newest reply wins. */
export const observe = (known: ServiceClock | undefined, stamp: Stamp): ServiceClock => {
  const fresh = boundsOf(stamp)
  if (known === undefined) return fresh
  const aheadAtLeastMillis = Math.max(known.aheadAtLeastMillis, fresh.aheadAtLeastMillis)
  const aheadAtMostMillis = Math.min(known.aheadAtMostMillis, fresh.aheadAtMostMillis)
  return aheadAtLeastMillis <= aheadAtMostMillis ? { aheadAtLeastMillis, aheadAtMostMillis } : fresh
}

/** Our instant at which the service's clock has certainly reached `serviceMillis`. */
export const certainlyReachedAt = (clock: ServiceClock, serviceMillis: number): number =>
  serviceMillis - clock.aheadAtLeastMillis

/** Our best guess of the instant at which the service's clock reaches `serviceMillis`. */
export const probablyReachedAt = (clock: ServiceClock, serviceMillis: number): number =>
  serviceMillis - (clock.aheadAtLeastMillis + clock.aheadAtMostMillis) / 2
