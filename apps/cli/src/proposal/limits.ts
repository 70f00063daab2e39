/**
 * The limits that a user sets: on the hourly price of nodes, on the minimum charges of new nodes, and on the price of committed periods. Every
 * command that buys something checks them before it sends anything. The hourly limit compares everything that an order costs
 * (`maxPerHourOf`), so that a plan without an hourly price does not count as free. Without a person's yes, nothing is bought above the limit
 * on periods.
 */
import { sumIfKnown } from "@berthkit/core/domain/Money"
import { Effect, Option } from "effect"
import { flag, type Value } from "../commandLine/Parameter.ts"
import { UsageFault } from "../failure/CliFailure.ts"
import { rupees } from "../output/format.ts"

export const rupeesPerHour: Value<number> = {
  metavar: "₹/HOUR",
  parse: (given) => (/^\d+(?:\.\d+)?$/.test(given) ? Option.some(Number(given)) : Option.none()),
  expected: () => "expected rupees per hour, such as 12.5"
}

export const inRupees: Value<number> = {
  ...rupeesPerHour,
  metavar: "₹",
  expected: () => "expected rupees, such as 46000"
}

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

export const maxMinimumFlag = flag("max-minimum", inRupees, "Abort if minimum charges come to more")

/** Fails if the sum of these minimum charges exceeds the limit; null is an unknown charge. In rupees. */
export const checkMinimum = (
  charges: ReadonlyArray<number | null>,
  maxMinimum: number | undefined,
  hint = "Raise --max-minimum, or choose another plan; --dry-run shows the minimum charge."
) => {
  if (maxMinimum === undefined || charges.length === 0) return Effect.void
  const total = sumIfKnown(charges)
  if (total !== null && total <= maxMinimum) return Effect.void
  return Effect.fail(
    new UsageFault({
      message:
        total === null
          ? "The minimum charge of a new node is not known, so it may be above --max-minimum: nothing was changed."
          : `New nodes would cost at least ₹${rupees(total)} in all, and --max-minimum is ${rupees(maxMinimum)}: nothing was changed.`,
      hint
    })
  )
}

export const maxCommitmentFlag = flag(
  "max-commitment",
  inRupees,
  "Abort if commitments cost more; default 0 with --yes"
)

export interface CommitmentBound {
  /**
   * Limit on the total price of the periods, in rupees. If undefined: no limit if the user is asked, because the question names the amount;
   * otherwise 0.
   */
  readonly maxCommitment: number | undefined
  /** Whether the user has consented in advance and is not asked. */
  readonly yes: boolean
}

/** The limit from a command's flags. With `--dry-run`, `--yes` does not count, because the command asks nobody and buys nothing. */
export const boundOf = (flags: CommitmentBound & { readonly dryRun: boolean }): CommitmentBound => ({
  maxCommitment: flags.maxCommitment,
  yes: flags.yes && !flags.dryRun
})

/** Fails if periods at these prices exceed the limit; null is an unknown price, or one in a foreign currency. */
export const checkCommitments = (
  prices: ReadonlyArray<number | null>,
  { maxCommitment, yes }: CommitmentBound,
  hint = "Run it without --yes: berth then asks you. --dry-run shows which it is.",
  foreignCurrency: string | null = null
) => {
  const allowed = maxCommitment ?? (yes ? 0 : undefined)
  if (allowed === undefined || prices.length === 0) return Effect.void
  const totalInr = sumIfKnown(prices)
  if (totalInr === null && foreignCurrency !== null) {
    return Effect.fail(
      new UsageFault({
        message: `The price of a commitment is in ${foreignCurrency}, and --max-commitment is in rupees: nothing was changed.`,
        hint: "Run it without --yes and --max-commitment: berth then asks you."
      })
    )
  }
  if (totalInr === null) {
    return Effect.fail(
      new UsageFault({
        message: "The price of a commitment is not known, so it may be above --max-commitment: nothing was changed.",
        hint
      })
    )
  }
  if (totalInr <= allowed) return Effect.void
  return Effect.fail(
    new UsageFault({
      message: `This would buy commitments for ₹${rupees(totalInr)}, and --max-commitment is ${rupees(allowed)}: nothing was changed.`,
      hint: `To buy them, add --max-commitment ${totalInr}; --dry-run shows each.`
    })
  )
}
