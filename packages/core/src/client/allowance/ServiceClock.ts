/**
 * Estimates the service's clock: bounds on its lead over our monotonic clock, from `Date` headers and round trips. `Date` has whole
 * seconds, so the bounds from one reply are wide. The bounds from many replies intersect to about the length of a round trip.
 */

/** Bounds on (service's clock − our monotonic one), in milliseconds. */
export interface ServiceClock {
  readonly minAheadMillis: number
  readonly maxAheadMillis: number
}

/** A round trip whose reply has a `Date`. */
export interface Stamp {
  readonly sentAt: number
  readonly receivedAt: number
  /** The reply's `Date` in milliseconds since the epoch; the exact time is within the second that begins there. */
  readonly date: number
}

const boundsOf = ({ date, receivedAt, sentAt }: Stamp, unitMillis: number): ServiceClock => ({
  minAheadMillis: date - receivedAt,
  maxAheadMillis: date + unitMillis - sentAt
})

/** Bounds without any `Date`: the service's clock agrees with our wall clock within two seconds. */
export const assumed = (wallAheadMillis: number): ServiceClock => ({
  minAheadMillis: wallAheadMillis - 2000,
  maxAheadMillis: wallAheadMillis + 2000
})

/**
 * Narrows the bounds by another reply. If they contradict each other, a clock has jumped, and the newest reply wins. `unitMillis` is the
 * unit of the date.
 */
export const observe = (known: ServiceClock | undefined, stamp: Stamp, unitMillis = 1000): ServiceClock => {
  const fresh = boundsOf(stamp, unitMillis)
  if (known === undefined) return fresh
  const minAheadMillis = Math.max(known.minAheadMillis, fresh.minAheadMillis)
  const maxAheadMillis = Math.min(known.maxAheadMillis, fresh.maxAheadMillis)
  return minAheadMillis <= maxAheadMillis ? { minAheadMillis, maxAheadMillis } : fresh
}

/** Our instant at which the service's clock has certainly reached `serviceMillis`. */
export const certainlyReachedAt = (clock: ServiceClock, serviceMillis: number): number =>
  serviceMillis - clock.minAheadMillis

/** Our best guess of the instant at which the service's clock reaches `serviceMillis`. */
export const probablyReachedAt = (clock: ServiceClock, serviceMillis: number): number =>
  serviceMillis - (clock.minAheadMillis + clock.maxAheadMillis) / 2
