/**
 * The limit on the minimum charges of new nodes. Every command that creates a node checks it before it sends anything.
 */
import { sumIfKnown } from "@berthkit/core/domain/Money"
import { Effect } from "effect"
import { flag } from "../commandLine/Parameter.ts"
import { UsageFault } from "../failure/CliFailure.ts"
import { rupees } from "../output/format.ts"
import { inRupees } from "./rupees.ts"

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
