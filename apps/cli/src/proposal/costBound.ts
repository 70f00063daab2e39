/**
 * The limit on what nodes cost per hour. Every command that creates one checks it here before it sends anything. What is compared is all
 * that an order costs (`maxPerHourOf`), so that a plan without a price per hour is not free.
 */
import { Effect } from "effect"
import { UsageFault } from "../failure/CliFailure.ts"

type Words = ConstructorParameters<typeof UsageFault>[0]

/** What is said to a user whose limit does not hold. */
export interface CostWords {
  /** The price is in another currency than rupees; undefined if it is not. */
  readonly foreign: Words | undefined
  readonly unknown: Words
  readonly above: Words
}

/** Fails if the cost is above the limit, or not known. Both in rupees per hour; without a limit anything is allowed. */
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
