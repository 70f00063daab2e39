/**
 * Whether a plan may be carried out: its cost, how many nodes it deletes, and the answer to the question. Checked before anything is sent.
 */
import { Effect } from "effect"
import { UsageFault } from "../failure/CliFailure.ts"
import { deletesOf, isIdle, type Plan, type PlanPrice } from "../fleet/plan.ts"
import { nodeCount, rupees } from "../output/format.ts"
import { confirm, ensureAskable } from "../proposal/confirm.ts"
import { pricePerHourText } from "../records/price.ts"
import { countsOf } from "./showPlan.ts"

export interface Limits {
  readonly yes: boolean
  /** Undefined: as many as the question names, or without a question none. */
  readonly maxDeletes: number | undefined
  /** Whether to delete is what the command is for: then `--yes` is enough. */
  readonly isDestroy: boolean
  readonly maxCost: number | undefined
}

/** Fails where the fleet would cost too much. What makes it cheaper is never refused. */
export const checkCost = (plan: Plan, { after, differencePerHourInr }: PlanPrice, maxCost: Limits["maxCost"]) => {
  if (maxCost === undefined || isIdle(plan) || (differencePerHourInr !== null && differencePerHourInr <= 0))
    return Effect.void
  const { maxPricePerHourInr: atMost } = after
  if (atMost !== null && atMost <= maxCost) return Effect.void
  const text = pricePerHourText(after)
  return Effect.fail(
    new UsageFault({
      message:
        text === undefined
          ? "The price of the fleet is not known, so it may be above --max-cost."
          : `The fleet would cost ${text}, ${atMost === null ? "and perhaps more" : "more"} than --max-cost ${rupees(maxCost)}.`,
      hint: "Raise --max-cost, or change the file; --dry-run shows the price of each member."
    })
  )
}

/** Fails where more nodes would be deleted than is allowed. */
export const checkDeletes = (plan: Plan, { isDestroy, maxDeletes, yes }: Limits) => {
  const deletes = deletesOf(plan)
  const allowed = maxDeletes ?? (yes && !isDestroy ? 0 : Number.POSITIVE_INFINITY)
  return deletes <= allowed
    ? Effect.void
    : Effect.fail(
        new UsageFault({
          message: `This would delete ${nodeCount(deletes)}, and --max-deletes is ${allowed}: nothing was changed.`,
          hint: `To delete them, add --max-deletes ${deletes}; --dry-run shows which they are.`
        })
      )
}

/** Fails where there has to be an answer and nobody can give one. */
export const ensureConsent = (plan: Plan, { yes }: Limits) =>
  isIdle(plan) || yes ? Effect.void : ensureAskable("apply the plan")

/** Of more deletions the number has to be typed. */
const maxUntyped = 10

/** Asks. */
export const askConsent = (plan: Plan, fleet: string) => {
  const deletes = deletesOf(plan)
  return confirm({
    question: `Change the fleet ${fleet} (${countsOf(plan)})?${deletes > 0 ? " Disks of deleted nodes are deleted too." : ""}`,
    count: deletes > maxUntyped ? deletes : undefined,
    verb: "apply the plan"
  })
}
