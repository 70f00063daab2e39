/**
 * The daemon's share of the rate limit: a part of the reported limit, within the window that the client assumes. The client's
 * scheduler keeps within the real remaining allowance; this share leaves the rest of it to other clients.
 */

/** A maximum number of requests within any period of this length. */
export interface Budget {
  readonly requests: number
  readonly windowMillis: number
}

const hourMillis = 3_600_000

/** The limit that is assumed until the service reports one, and the window until the client knows one (interface.md §8). */
const assumedLimit = 1200

/** A larger share is divided into shorter windows, because each request of a window takes memory. */
const maxRequests = 100_000

export const hourly = (requests: number): Budget => ({ requests, windowMillis: hourMillis })

/** The budget for a part of the limit; an unknown limit or window is null. */
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

/** The pace is exact for a share of this many requests, and at most a hundredth too slow for a larger one. */
const maxExact = 1200

/** The requests of the last window, never more than the share. */
export class RequestShare {
  #requests: number
  /** Both ends of a window are inclusive. */
  #windowMillis: number
  /** When the last requests were sent; the oldest is overwritten. */
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
   * Switches to another budget. Earlier requests count, but never delay more than if the share had been used evenly: otherwise
   * a smaller share, or a longer window, would block everything for up to a window.
   */
  change({ requests, windowMillis }: Budget, monotonicMillis: number): void {
    if (requests === this.#requests && windowMillis + 1 === this.#windowMillis) return
    const sent = new Float64Array(requests)
    const step = (windowMillis + 1) / requests
    // From the newest back. Requests before the oldest known one are unknown: assume that the share was used evenly.
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

  /** The shortest interval at which requests may be sent for ever, with this many extra requests at any time. */
  paceMillis(monotonicMillis: number, besides = 0): number {
    let pace = this.#windowMillis / Math.max(1, this.#requests - besides)
    for (let place = this.#firstWaiting(monotonicMillis); place < this.#requests;) {
      // The request after this many others takes the place of this one.
      const others = place + 1 - besides
      const last = Math.min(place + this.#groupAt(others), this.#requests) - 1
      pace = Math.max(pace, others > 0 ? this.#waitMillis(last, monotonicMillis) / others : Infinity)
      place = last + 1
    }
    return pace
  }

  /**
   * How many requests may be sent at once in addition to `perHour` requests per hour for ever. Negative if even those have no
   * room.
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
   * How many neighbours are treated like the last of them. A large share is grouped because this runs several times per
   * request.
   */
  #groupAt(others: number): number {
    return this.#requests <= maxExact ? 1 : Math.max(1, Math.floor(others / 100))
  }

  /** How long a request still counts from that instant on, by its index from the oldest. */
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
