/**
 * The share of the rate limit that the daemon keeps to. The length of the allowance's window is not known (A22), so the
 * requests of any hour have to fit. The client's scheduler keeps within the allowance that is really left; this share
 * leaves the rest of it to other clients.
 */

/** 60 % of an allowance of 1200 (interface.md §8), even if that is for an hour. */
export const defaultRequestsPerHour = 720

/** Both ends of an hour count. */
const windowMillis = 3_600_001

/** What is left lasts for so long in a burst. */
const burstMillis = 720_000

/** A request a minute goes in any case. */
const maxPaceMillis = 60_000

/** The pace is exact for a share of so many requests, and a hundredth too slow at most for a larger one. */
const maxExact = 1200

/** The requests of the last hour, of which there are never more than the share. */
export class RequestShare {
  readonly perHour: number
  /** When the last ones were sent; the oldest is overwritten. */
  readonly #sent: Float64Array
  #next = 0

  constructor(perHour: number) {
    this.perHour = perHour
    this.#sent = new Float64Array(perHour).fill(-Infinity)
  }

  /** When the next request may be sent, on the monotonic clock. */
  get openAt(): number {
    return this.#sent[this.#next]! + windowMillis
  }

  /** Counts a request. */
  take(monotonicMillis: number): void {
    this.#sent[this.#next] = monotonicMillis
    this.#next = (this.#next + 1) % this.perHour
  }

  /** How many more may be sent at once. */
  left(monotonicMillis: number): number {
    return this.#firstWaiting(monotonicMillis)
  }

  /** The shortest interval at which requests may be sent from now on for ever, and so many besides at any time. */
  paceMillis(monotonicMillis: number, besides = 0): number {
    let pace = windowMillis / Math.max(1, this.perHour - besides)
    for (let place = this.#firstWaiting(monotonicMillis); place < this.perHour;) {
      // The request after so many others takes the place of this one.
      const others = place + 1 - besides
      // Of thousands each group of neighbours counts as its last: this is asked several times for each request.
      const group = this.perHour <= maxExact ? 1 : Math.max(1, Math.floor(others / 100))
      const last = Math.min(place + group, this.perHour) - 1
      pace = Math.max(pace, others > 0 ? this.#waitMillis(last, monotonicMillis) / others : Infinity)
      place = last + 1
    }
    return pace
  }

  /** The shortest interval at which what is left lasts for twelve minutes. The less is left, the longer it is: the share never runs out. */
  burstPaceMillis(monotonicMillis: number): number {
    return Math.min(maxPaceMillis, burstMillis / this.left(monotonicMillis))
  }

  /** How long from then on a request counts, by its place from the oldest on. */
  #waitMillis(place: number, monotonicMillis: number): number {
    const index = this.#next + place
    return this.#sent[index < this.perHour ? index : index - this.perHour]! + windowMillis - monotonicMillis
  }

  /** The place of the first request of the last hour. */
  #firstWaiting(monotonicMillis: number): number {
    let first = 0
    let end = this.perHour
    while (first < end) {
      const middle = (first + end) >>> 1
      if (this.#waitMillis(middle, monotonicMillis) > 0) end = middle
      else first = middle + 1
    }
    return first
  }
}
