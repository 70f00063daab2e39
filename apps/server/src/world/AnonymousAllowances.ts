/**
 * The allowances of those who show no valid account: one per remote address (decision 20), by the policy and the clock of
 * the main world. The addresses seen last are remembered, the others begin anew.
 */
import * as Allowance from "./allowance.ts"

/** How many addresses are remembered. */
const mostVisitors = 10_000

export class Visitors {
  readonly #policy: Allowance.AllowancePolicy
  readonly #byAddress = new Map<string, Allowance.Allowance>()

  constructor(policy: Allowance.AllowancePolicy) {
    this.#policy = policy
  }

  allowanceOf(address: string): Allowance.Allowance {
    const known = this.#byAddress.get(address)
    const allowance = known ?? Allowance.make(this.#policy)
    // A map keeps the order of insertion: what was used last stands last, and the first is the one to forget.
    if (known !== undefined) this.#byAddress.delete(address)
    this.#byAddress.set(address, allowance)
    if (this.#byAddress.size > mostVisitors) {
      const [longestUnused] = this.#byAddress.keys()
      this.#byAddress.delete(longestUnused!)
    }
    return allowance
  }
}
