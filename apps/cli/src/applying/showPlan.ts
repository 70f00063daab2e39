/**
 * Shows a plan before it is carried out, with the fleet's cost now and afterwards; checks it against the limits on cost and deletions; and
 * asks for consent. Nothing is sent before that.
 */
import type { ForeignPrice } from "@berthkit/core/domain/Image"
import { maxPerHourOf, type PriceList } from "@berthkit/core/domain/Price"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Effect } from "effect"
import { settingsText } from "../fleet/differences.ts"
import { countOf, deletesOf, type Plan } from "../fleet/Change.ts"
import { optionOf, planPrice } from "../fleet/planPrice.ts"
import { width } from "../output/cells.ts"
import { Output, printNote } from "../output/Output.ts"
import { OutputFormat, OutputOptions } from "../output/OutputOptions.ts"
import { printAll } from "../output/print.ts"
import { card, table } from "../output/table.ts"
import {
  collapsed,
  differenceText,
  type FleetChange,
  fleetChangeRecord,
  shownFleetChange
} from "../records/fleetChange.ts"
import { currencyName, diskUnpriced, foreignPriceText, priceText } from "../records/price.ts"
import { rowsOf } from "./rows.ts"
import { UsageFault } from "../failure/CliFailure.ts"
import { foreignAmount, nodeCount, rupees } from "../output/format.ts"
import { checkCommitments, checkMaxCost, checkMinimum, type CommitmentBound } from "../proposal/limits.ts"
import { confirm, ensureAskable } from "../proposal/confirm.ts"

/** Prints rows; on a terminal, all unchanged members share one row. */
export const printChanges = Effect.fnUntraced(function* (rows: ReadonlyArray<FleetChange>) {
  const format = yield* OutputFormat
  const { query } = yield* OutputOptions
  yield* format === "table" && query === undefined
    ? printAll(shownFleetChange, collapsed(rows))
    : printAll(fleetChangeRecord, rows)
})

/** The cost of the fleet, as a sentence. */
const priceSentence = (plan: Plan, prices: PriceList): string => {
  const { after, differencePerHourInr, differencePerMonthInr, now } = planPrice(plan, prices)
  const text = (price: typeof now) => priceText(price) ?? "not known"
  const foreign = foreignOf(plan, prices).map(([group, price]) => `${group}: ${foreignPriceText(price)} for each node.`)
  const sums = `Price now: ${text(now)}. After: ${text(after)}. Difference: ${differenceText(differencePerHourInr, differencePerMonthInr)}.`
  const disks = withoutDisk(plan, prices).map((group) => `${group}: ${diskUnpriced}.`)
  return [sums, ...disks, ...foreign, ...atOnceSentences(plan, prices)].join(" ")
}

/** The groups with changes, each once. */
const groupsIn = (changes: Plan["changes"]) =>
  Array.from(
    new Map(changes.flatMap((change) => ("group" in change ? [[change.group.group, change.group]] : []))).values()
  )

/** The prices of groups in a currency other than rupees. The sums do not include them. */
const foreignOf = (
  { changes }: Plan,
  prices: PriceList
): ReadonlyArray<readonly [group: string, price: ForeignPrice]> => {
  return groupsIn(changes).flatMap(({ group, order }) => {
    const { foreignPrice } = prices.ofOrder(order)
    return foreignPrice === null ? [] : [[group, foreignPrice] as const]
  })
}

/** Groups whose disks have no listed price. */
const withoutDisk = ({ changes }: Plan, prices: PriceList): ReadonlyArray<string> =>
  groupsIn(changes).flatMap(({ group, order }) => (prices.ofOrder(order).isDiskUnpriced ? [group] : []))

/** Whether the plan buys committed periods. */
const buys = ({ changes }: Plan): boolean =>
  changes.some((change) => change.action === "commit" && change.group.commitment?.days !== null)

/** The committed periods that the plan buys at prices in a currency other than rupees, by group. */
const foreignCommitments = (
  { changes }: Plan,
  prices: PriceList
): ReadonlyArray<readonly [group: string, price: string, currency: string]> => {
  const groups = new Map(
    changes.flatMap((change) => (change.action === "commit" ? [[change.group.group, change.group] as const] : []))
  )
  return Array.from(groups.values()).flatMap((group) => {
    const price = optionOf(group, prices)?.foreignPrice
    if (!price) return []
    const { amount, currency } = price
    return [[group.group, foreignAmount(currency, amount), currency] as const]
  })
}

const makes = ({ changes }: Plan): boolean =>
  changes.some((change) => change.action === "create" || (change.action === "replace" && change.made === null))

/** One-time costs of the plan, in addition to the price per hour. */
const atOnceSentences = (plan: Plan, prices: PriceList): ReadonlyArray<string> => {
  const { committedInr, minimumInr } = planPrice(plan, prices)
  const amount = (inr: number | null) => (inr === null ? "an amount that is not known" : `₹${rupees(inr)}`)
  return [
    ...foreignCommitments(plan, prices).map(
      ([group, text]) => `${group}: commitment for ${text}, for each node, at once.`
    ),
    ...(buys(plan) && (committedInr !== null || foreignCommitments(plan, prices).length === 0)
      ? [`Commitments: ${amount(committedInr)} at once.`]
      : []),
    ...(makes(plan) && minimumInr !== 0
      ? [`Minimum charge of new nodes: ${amount(minimumInr)}. --max-minimum limits it.`]
      : [])
  ]
}

/**
 * A string with everything that berth shows of a plan or would send for it. If the string differs after a question, the plan has changed.
 */
export const shownText = (plan: Plan, prices: PriceList): string =>
  JSON.stringify([
    rowsOf(plan, prices),
    priceSentence(plan, prices),
    plan.changes.map((change) =>
      "group" in change ? [change.group.order, change.group.scripts, change.group.commitment] : change.action
    )
  ])

/** The counts of changes by kind, as the beginning of a question. */
const countsOf = (plan: Plan): string =>
  (["create", "replace", "commit", "delete"] as const)
    .filter((action) => countOf(plan, action) > 0)
    .map((action) => `${action} ${countOf(plan, action)}`)
    .join(", ")

/**
 * The rows as a table. If the terminal is too narrow for it, the rows become cards, because a user must see every value in full before
 * consenting.
 */
const drawn = (
  rows: ReadonlyArray<FleetChange>,
  { colour, columns }: { readonly colour: boolean; readonly columns: number },
  isAsked: boolean
): string => {
  const fields = shownFleetChange.fields(rows)
  const whole = table(fields, rows, { available: Number.POSITIVE_INFINITY, colour: false }).text
  if (!isAsked || whole.split("\n").every((line) => width(line) <= columns)) {
    return table(fields, rows, { available: columns, colour }).text
  }
  return rows.map((row) => card(fields, row, { colour })).join("\n")
}

/** The settings of new nodes except plan and image, one line per group. */
const settingsOf = ({ changes }: Plan): ReadonlyArray<string> => {
  const made = changes.flatMap((change) =>
    change.action === "create" || change.action === "replace" ? [change.group] : []
  )
  const lines = made.map(({ group, order, scripts }) => {
    const text = settingsText(order, scripts)
    return text === "" ? "" : `${group}: ${text}`
  })
  return Array.from(new Set(lines)).filter((line) => line !== "")
}

/** Shows the plan on stderr before it is carried out; with `--quiet` only before a question. */
export const showPlan = Effect.fnUntraced(function* (plan: Plan, prices: PriceList, isAsked: boolean) {
  const { chatty, note, stderr } = yield* Output
  if (!chatty && !isAsked) return
  yield* note(drawn(collapsed(rowsOf(plan, prices)), stderr, isAsked).trimEnd())
  for (const line of settingsOf(plan)) yield* note(escapeControls(line))
  yield* note(escapeControls(priceSentence(plan, prices)))
})

/** Prints the price of a plan below its table on stdout. */
export const notePrice = (plan: Plan, prices: PriceList) => printNote(priceSentence(plan, prices))

export interface Limits extends CommitmentBound {
  /**
   * Maximum number of deletions. If undefined, `--yes` allows 0, except for a destroy. Without `--yes` any number is allowed, because the
   * question names it.
   */
  readonly maxDeletes: number | undefined
  /** Whether the command's purpose is to delete; `--yes` is enough then. */
  readonly isDestroy: boolean
  readonly maxCost: number | undefined
  /** How many nodes are replaced at a time. */
  readonly maxUnavailable: number
  /** Limit, in rupees, on the sum of the minimum charges of new nodes. */
  readonly maxMinimum: number | undefined
}

/** Fails if committed periods, or the minimum charges of new nodes, exceed their limits. */
export const checkAtOnce = Effect.fnUntraced(function* (
  plan: Plan,
  prices: PriceList,
  { maxMinimum, ...bound }: CommitmentBound & Pick<Limits, "maxMinimum">
) {
  const { committedInr, minimumInr } = planPrice(plan, prices)
  const [foreign] = foreignCommitments(plan, prices)
  yield* checkCommitments(buys(plan) ? [committedInr] : [], bound, undefined, foreign?.[2])
  yield* checkMinimum(
    makes(plan) ? [minimumInr] : [],
    maxMinimum,
    "Raise --max-minimum, or change the file; --dry-run shows the minimum charge of each member."
  )
})

/**
 * Fails if the total price of old and new nodes would rise above the limit at any moment of the plan. The old nodes are deleted last, after
 * the new nodes run, and count until then.
 */
export const checkCost = (
  plan: Plan,
  prices: PriceList,
  { maxCost, maxUnavailable }: Pick<Limits, "maxCost" | "maxUnavailable">
) => {
  const { after, now, peakPerHourInr } = planPrice(plan, prices, Math.max(1, maxUnavailable))
  const nowPerHourInr = maxPerHourOf(now)
  const isRaised = peakPerHourInr !== null && nowPerHourInr !== null && peakPerHourInr > nowPerHourInr
  if (!makes(plan) && !isRaised) return Effect.void
  return checkMaxCost(peakPerHourInr, maxCost, () => {
    const [foreign] = foreignOf(plan, prices)
    const [disk] = withoutDisk(plan, prices)
    const reason = disk === undefined ? "" : ` (${disk}: ${diskUnpriced})`
    const afterPerHourInr = maxPerHourOf(after)
    const isLater = afterPerHourInr !== null && maxCost !== undefined && afterPerHourInr <= maxCost
    const hint = "Raise --max-cost, or change the file; --dry-run shows the price of each member."
    return {
      foreign:
        peakPerHourInr !== null || foreign === undefined
          ? undefined
          : {
              message: `The price of ${foreign[0]} is in ${currencyName(foreign[1])}, and --max-cost is in rupees: they cannot be compared.`,
              hint: "Omit --max-cost: apply then asks you."
            },
      unknown: { message: `The price of the fleet is not known${reason}, so it may be above --max-cost.`, hint },
      above: {
        message: `The fleet would cost ₹${rupees(peakPerHourInr)} per hour${isLater ? " until its old nodes are deleted" : ""}, more than --max-cost ${maxCost === undefined ? "" : rupees(maxCost)}.`,
        hint
      }
    }
  })
}

/** Fails if the plan deletes more nodes than allowed. */
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

/** Fails if consent is needed and nobody can be asked. */
export const ensureConsent = ensureAskable("apply the plan")

/** Above this many deletions, the user has to type the number. */
const maxUntyped = 10

/** Asks for consent. */
export const askConsent = (plan: Plan, fleet: string) => {
  const deletes = deletesOf(plan)
  return confirm({
    question: `Change the fleet ${fleet} (${countsOf(plan)})?${deletes > 0 ? " Disks of deleted nodes are deleted too." : ""}`,
    count: deletes > maxUntyped ? deletes : undefined,
    verb: "apply the plan"
  })
}
