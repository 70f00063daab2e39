/**
 * Shows a plan: as data on stdout, or before a question on stderr; with what the fleet costs now and afterwards.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import type { PriceList } from "@berthkit/core/domain/Price"
import { Effect } from "effect"
import { countOf, type Plan, planPrice } from "../fleet/plan.ts"
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
import { priceText } from "../records/price.ts"

/** Prints rows; people get one for all that do not change. */
export const printChanges = Effect.fnUntraced(function* (rows: ReadonlyArray<FleetChange>) {
  const format = yield* OutputFormat
  const { query } = yield* OutputOptions
  yield* format === "table" && query === undefined
    ? printAll(shownFleetChange, collapsed(rows))
    : printAll(fleetChangeRecord, rows)
})

/** What the fleet costs, as a sentence. */
export const priceSentence = (plan: Plan, prices: PriceList): string => {
  const { after, differencePerHourInr, differencePerMonthInr, now } = planPrice(plan, prices)
  const text = (price: typeof now) => priceText(price) ?? "not known"
  return `Price now: ${text(now)}. After: ${text(after)}. Difference: ${differenceText(differencePerHourInr, differencePerMonthInr)}.`
}

/** How many of what, as the beginning of a question. */
export const countsOf = (plan: Plan): string =>
  (["create", "replace", "commit", "delete"] as const)
    .filter((action) => countOf(plan, action) > 0)
    .map((action) => `${action} ${countOf(plan, action)}`)
    .join(", ")

/** Shows the plan on stderr before it is carried out; where only errors are wanted there, before a question alone. */
export const showPlan = Effect.fnUntraced(function* (
  rows: ReadonlyArray<FleetChange>,
  sentence: string,
  isAsked: boolean
) {
  const { chatty, note, stderr } = yield* Output
  if (!chatty && !isAsked) return
  const shown = collapsed(rows)
  const drawn = table(shownFleetChange.fields(shown), shown, { available: stderr.columns, colour: stderr.colour })
  yield* note(drawn.text.trimEnd())
  yield* note(escapeControls(sentence))
})

/** The price of a plan below its table on stdout. */
export const notePrice = (plan: Plan, prices: PriceList) => printNote(priceSentence(plan, prices))
