/**
 * The daemon's share of the rate limit: a part of the reported limit, within the window that the client assumes. The
 * client itself keeps within the allowance that is left. The share leaves the rest of the limit to other clients.
 */

/** A maximum number of requests within any period of this length. */
export interface Budget {
  readonly requests: number
  readonly windowMillis: number
}

const hourMillis = 3_600_000

/**
 * The limit that is assumed until the service reports one, and the window that is assumed until the client knows it
 * (interface.md §8).
 */
const assumedLimit = 1200

/**
 * Maximum number of requests in one window. A larger share gets a shorter window, because each request of a window takes
 * memory.
 */
const maxRequests = 100_000

export const hourly = (requests: number): Budget => ({ requests, windowMillis: hourMillis })

/** The budget for a share of the limit. `known`: the limit and window; null if unknown. */
export const budgetOf = (
  share: number,
  known: { readonly limit: number | null; readonly windowMillis: number | null } = { limit: null, windowMillis: null }
): Budget => {
  // A product such as 0.55 × 100 is slightly too small or too large.
  const requests = Math.max(1, Math.floor(share * (known.limit ?? assumedLimit) + rounding))
  const windowMillis = Math.max(1000, known.windowMillis ?? hourMillis)
  return requests <= maxRequests
    ? { requests, windowMillis }
    : { requests: maxRequests, windowMillis: (windowMillis * maxRequests) / requests }
}

export const perHourOf = ({ requests, windowMillis }: Budget): number => (requests * hourMillis) / windowMillis

/** Rounding error of a sum of fractions. */
const rounding = 1e-9

/** The pace is exact for a share of up to this many requests, and at most a hundredth too slow for a larger share. */
const maxExact = 1200

/** The requests of the last window, never more than the share. */
export class RequestShare {
  #requests: number
  /** One millisecond longer than the window, because both ends of a window are inclusive. */
  #windowMillis: number
  /** When the last requests were sent, as a ring: a new request overwrites the oldest. */
  #sent: Float64Array
  #next = 0

  constructor({ requests, windowMillis }: Budget) {
    this.#requests = requests
    this.#windowMillis = windowMillis + 1
    this.#sent = new Float64Array(requests).fill(-Infinity)
  }

  get budget(): Budget {
    return { requests: this.#requests, windowMillis: this.#windowMillis - 1 }
  }

  /**
   * Switches to another budget. Earlier requests still count, but delay new requests at most as long as evenly spread
   * requests would. Otherwise a smaller share or a longer window could block all requests for up to a whole window.
   */
  change({ requests, windowMillis }: Budget, monotonicMillis: number): void {
    if (requests === this.#requests && windowMillis + 1 === this.#windowMillis) return
    const sent = new Float64Array(requests)
    const step = (windowMillis + 1) / requests
    // Copy the requests from the newest back. For requests before the oldest known one, assume that the share was used evenly.
    for (let age = 0; age < requests; age++) {
      const known =
        this.#sent[(this.#next - 1 - Math.min(age, this.#requests - 1) + 2 * this.#requests) % this.#requests]!
      sent[requests - 1 - age] = Math.min(known, monotonicMillis - age * step)
    }
    this.#sent = sent
    this.#next = 0
    this.#requests = requests
    this.#windowMillis = windowMillis + 1
  }

  /** When the next request may be sent, on the monotonic clock. */
  get openAt(): number {
    return this.#sent[this.#next]! + this.#windowMillis
  }

  /** Counts a request. */
  take(monotonicMillis: number): void {
    this.#sent[this.#next] = monotonicMillis
    this.#next = (this.#next + 1) % this.#requests
  }

  /** How many more requests may be sent at once. */
  left(monotonicMillis: number): number {
    return this.#firstWaiting(monotonicMillis)
  }

  /** The shortest interval at which requests may be sent indefinitely, with this many extra requests at any time. */
  paceMillis(monotonicMillis: number, besides = 0): number {
    let pace = this.#windowMillis / Math.max(1, this.#requests - besides)
    for (let place = this.#firstWaiting(monotonicMillis); place < this.#requests;) {
      // After this many other requests, the next one has to wait until this one no longer counts.
      const others = place + 1 - besides
      const last = Math.min(place + this.#groupAt(others), this.#requests) - 1
      pace = Math.max(pace, others > 0 ? this.#waitMillis(last, monotonicMillis) / others : Infinity)
      place = last + 1
    }
    return pace
  }

  /**
   * The largest burst that is possible on top of a steady `perHour` requests an hour. Negative if even these
   * have no room.
   */
  spare(monotonicMillis: number, perHour: number): number {
    const perMilli = perHour / hourMillis
    let spare = this.#requests - this.#windowMillis * perMilli
    for (let place = this.#firstWaiting(monotonicMillis); place < this.#requests;) {
      const last = Math.min(place + this.#groupAt(place + 1), this.#requests) - 1
      spare = Math.min(spare, place + 1 - this.#waitMillis(last, monotonicMillis) * perMilli)
      place = last + 1
    }
    return Math.floor(spare + rounding)
  }

  /**
   * How many neighbouring requests are treated as if all were sent with the last of them. This grouping makes a large
   * share faster, because the calculation runs several times per request.
   */
  #groupAt(others: number): number {
    return this.#requests <= maxExact ? 1 : Math.max(1, Math.floor(others / 100))
  }

  /** How much longer a request counts, in milliseconds. `place`: its index, counted from the oldest. */
  #waitMillis(place: number, monotonicMillis: number): number {
    const index = this.#next + place
    return this.#sent[index < this.#requests ? index : index - this.#requests]! + this.#windowMillis - monotonicMillis
  }

  /** The index of the first request of the last window. */
  #firstWaiting(monotonicMillis: number): number {
    let first = 0
    let end = this.#requests
    while (first < end) {
      const middle = (first + end) >>> 1
      if (this.#waitMillis(middle, monotonicMillis) > 0) end = middle
      else first = middle + 1
    }
    return first
  }
}
