/**
 * The allowances of callers without an account: one per remote address (decision 20), under the rate limit and the clock
 * of the main world. The addresses used last are kept, the others begin anew.
 */
import * as Allowance from "./allowance.ts"

const maxAddresses = 10_000

export class AnonymousAllowances {
  readonly #rateLimit: Allowance.RateLimit
  readonly #byAddress = new Map<string, Allowance.Allowance>()

  constructor(rateLimit: Allowance.RateLimit) {
    this.#rateLimit = rateLimit
  }

  of(address: string): Allowance.Allowance {
    const known = this.#byAddress.get(address)
    const allowance = known ?? Allowance.make(this.#rateLimit)
    // A map keeps the order of insertion: what was used last stands last, and the first is the one to forget.
    if (known !== undefined) this.#byAddress.delete(address)
    this.#byAddress.set(address, allowance)
    if (this.#byAddress.size > maxAddresses) {
      const [oldestUnused] = this.#byAddress.keys()
      this.#byAddress.delete(oldestUnused!)
    }
    return allowance
  }
}
