/**
 * The limit on the price of committed periods. Every command that buys one checks it before it sends anything: without a person's yes, it
 * buys nothing above the limit.
 */
import { sumIfKnown } from "@berthkit/core/domain/Money"
import { Effect } from "effect"
import { flag } from "../commandLine/Parameter.ts"
import { UsageFault } from "../failure/CliFailure.ts"
import { rupees } from "../output/format.ts"
import { inRupees } from "./rupees.ts"

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
