/**
 * A plan before it is carried out: shown with what the fleet costs now and afterwards, checked against the limits of cost and deletions, and
 * asked about. Nothing is sent before.
 */
import type { PriceList } from "@berthkit/core/domain/Price"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Effect } from "effect"
import { countOf, deletesOf, isIdle, type Plan, planPrice } from "../fleet/plan.ts"
import { Output, printNote } from "../output/Output.ts"
import { OutputFormat, OutputOptions } from "../output/OutputOptions.ts"
import { printAll } from "../output/print.ts"
import { table } from "../output/table.ts"
import {
  collapsed,
  differenceText,
  type FleetChange,
  fleetChangeRecord,
  shownFleetChange
} from "../records/fleetChange.ts"
import { pricePerHourText, priceText } from "../records/price.ts"
import { rowsOf } from "./rows.ts"
import { UsageFault } from "../failure/CliFailure.ts"
import { nodeCount, rupees } from "../output/format.ts"
import { confirm, ensureAskable } from "../proposal/confirm.ts"

/** Prints rows; people get one for all that do not change. */
export const printChanges = Effect.fnUntraced(function* (rows: ReadonlyArray<FleetChange>) {
  const format = yield* OutputFormat
  const { query } = yield* OutputOptions
  yield* format === "table" && query === undefined
    ? printAll(shownFleetChange, collapsed(rows))
    : printAll(fleetChangeRecord, rows)
})

/** What the fleet costs, as a sentence. */
const priceSentence = (plan: Plan, prices: PriceList): string => {
  const { after, differencePerHourInr, differencePerMonthInr, now } = planPrice(plan, prices)
  const text = (price: typeof now) => priceText(price) ?? "not known"
  return `Price now: ${text(now)}. After: ${text(after)}. Difference: ${differenceText(differencePerHourInr, differencePerMonthInr)}.`
}

/** How many of what, as the beginning of a question. */
const countsOf = (plan: Plan): string =>
  (["create", "replace", "commit", "delete"] as const)
    .filter((action) => countOf(plan, action) > 0)
    .map((action) => `${action} ${countOf(plan, action)}`)
    .join(", ")

/** Shows the plan on stderr before it is carried out; where only errors are wanted there, before a question alone. */
export const showPlan = Effect.fnUntraced(function* (plan: Plan, prices: PriceList, isAsked: boolean) {
  const { chatty, note, stderr } = yield* Output
  if (!chatty && !isAsked) return
  const shown = collapsed(rowsOf(plan, prices))
  const drawn = table(shownFleetChange.fields(shown), shown, { available: stderr.columns, colour: stderr.colour })
  yield* note(drawn.text.trimEnd())
  yield* note(escapeControls(priceSentence(plan, prices)))
})

/** The price of a plan below its table on stdout. */
export const notePrice = (plan: Plan, prices: PriceList) => printNote(priceSentence(plan, prices))

export interface Limits {
  readonly yes: boolean
  /** Undefined: as many as the question names, or without a question none. */
  readonly maxDeletes: number | undefined
  /** Whether to delete is what the command is for: then `--yes` is enough. */
  readonly isDestroy: boolean
  readonly maxCost: number | undefined
}

/** Fails where the fleet would cost too much. What makes it cheaper is never refused. */
export const checkCost = (plan: Plan, prices: PriceList, maxCost: Limits["maxCost"]) => {
  const { after, differencePerHourInr } = planPrice(plan, prices)
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
