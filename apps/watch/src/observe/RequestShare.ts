/**
 * The share of the rate limit that the daemon keeps to. The length of the allowance's window is not known (decision 22), so the
 * requests of any hour have to fit. The client's scheduler keeps within the allowance that is really left; this share
 * leaves the rest of it to other clients.
 */

/** 60 % of an allowance of 1200 (interface.md §8), even if that is for an hour. */
export const defaultRequestsPerHour = 720

const millisPerHour = 3_600_000

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

  /** When the next request may be sent, on the monotonic clock: both ends of an hour count. */
  get openAt(): number {
    return this.#sent[this.#next]! + millisPerHour + 1
  }

  /** Counts a request. */
  take(monotonicMillis: number): void {
    this.#sent[this.#next] = monotonicMillis
    this.#next = (this.#next + 1) % this.perHour
  }

  /** How many more may be sent at once. */
  left(monotonicMillis: number): number {
    return this.#sent.reduce((left, sent) => (sent + millisPerHour < monotonicMillis ? left + 1 : left), 0)
  }
}
