/**
 * The limit on the hourly price of nodes. Every command that creates a node checks it before it sends anything. It compares everything that
 * an order costs (`maxPerHourOf`), so that a plan without an hourly price does not count as free.
 */
import { Effect } from "effect"
import { UsageFault } from "../failure/CliFailure.ts"

type Words = ConstructorParameters<typeof UsageFault>[0]

/** The messages for a price that is above the limit or cannot be compared with it. */
export interface CostWords {
  /** For a price in a currency other than rupees; undefined otherwise. */
  readonly foreign: Words | undefined
  readonly unknown: Words
  readonly above: Words
}

/** Fails if the cost is above the limit or unknown. Cost and limit are in rupees per hour. If there is no limit, any cost is allowed. */
export const checkMaxCost = (
  perHourInr: number | null,
  maxCostInr: number | undefined,
  words: () => CostWords
): Effect.Effect<void, UsageFault> =>
  Effect.suspend(() => {
    if (maxCostInr === undefined || (perHourInr !== null && perHourInr <= maxCostInr)) return Effect.void
    const { above, foreign, unknown } = words()
    return Effect.fail(new UsageFault(foreign ?? (perHourInr === null ? unknown : above)))
  })
