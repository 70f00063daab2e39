/**
 * The share of the rate limit that the daemon keeps to. The length of the allowance's window is not known (decision 22), so the
 * requests of any hour have to fit. The client's scheduler keeps within the allowance that is really left; this share
 * leaves the rest of it to other clients.
 */

/** 60 % of an allowance of 1200 (interface.md §8), even if that is for an hour. */
export const defaultRequestsPerHour = 720

/** Both ends of an hour count. */
const windowMillis = 3_600_001

const burstMillis = 720_000

/** A request a minute goes in any case. */
const maxPaceMillis = 60_000

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
    return this.#sent.reduce((left, sent) => (sent + windowMillis <= monotonicMillis ? left + 1 : left), 0)
  }

  /** The shortest interval at which requests may be sent from now on for ever, and so many besides at any time. */
  paceMillis(monotonicMillis: number, besides = 0): number {
    let pace = windowMillis / Math.max(1, this.perHour - besides)
    for (let index = 0; index < this.perHour; index++) {
      const waitMillis = this.#sent[(this.#next + index) % this.perHour]! + windowMillis - monotonicMillis
      // The request after so many others takes the place of this one.
      const others = index + 1 - besides
      if (waitMillis > 0) pace = Math.max(pace, others > 0 ? waitMillis / others : Infinity)
    }
    return pace
  }

  /** The shortest interval at which what is left lasts for twelve minutes. The less is left, the longer it is: the share never runs out. */
  burstPaceMillis(monotonicMillis: number): number {
    const left = this.#sent.reduce((left, sent) => (sent + windowMillis <= monotonicMillis ? left + 1 : left), 0)
    return Math.min(maxPaceMillis, burstMillis / left)
  }
}
