/**
 * `berth cost`: shows what the account costs per hour and month, and which nodes are off and still billed.
 */
import { sumOfPrices, unknownPrice } from "@berthkit/core/domain/Price"
import { Clock, Effect } from "effect"
import { ownMemberships } from "../../applying/Registry.ts"
import { command } from "../command.ts"
import { flag, oneOf } from "../../commandLine/Parameter.ts"
import { commitmentLog } from "../../commitmentLog/CommitmentLog.ts"
import { shownList } from "../../nodes/allNodes.ts"
import { UsageFault } from "../../failure/CliFailure.ts"
import { nodeCount } from "../../output/format.ts"
import { printNote } from "../../output/Output.ts"
import { printAll } from "../../output/print.ts"
import { recentCatalogue } from "../../catalogue/ImageList.ts"
import { pricesOf } from "../../proposal/offer.ts"
import { type Cost, costRecord } from "../../records/cost.ts"
import { currencyName, foreignPriceText, priceText } from "../../records/price.ts"
import { client } from "../../settings/client.ts"
import { costHistory, historyFlags, isHistory } from "./history.ts"
import { costs, type Grouping, groupings } from "./sum.ts"

/** The notes below the table, one sentence each. */
const totalTexts = (total: Cost): ReadonlyArray<string> => {
  const { committed, foreign, nodes, offAndBilled, unreadable, withoutPrice } = total
  const inForeign = foreign.reduce((sum, { nodes }) => sum + nodes, 0)
  const unpriced = withoutPrice - unreadable - inForeign
  const price = priceText(total)
  const sentences = [
    `${nodeCount(nodes)}: ${price === undefined ? (inForeign > 0 ? "no known price in rupees" : "price not known") : `${price}, by their ${committed > 0 ? "hourly and committed" : "hourly"} prices`}.`
  ]
  for (const { nodes, ...sum } of foreign) {
    sentences.push(
      `${nodeCount(nodes)} in ${currencyName(sum)}: ${foreignPriceText(sum)}, not included in the rupee sums.`
    )
  }
  if (committed > 0) {
    sentences.push(`${nodeCount(committed)} committed, as far as Berth knows; the service does not report commitments.`)
  }
  if (offAndBilled > 0) sentences.push(`${nodeCount(offAndBilled)} off and still billed.`)
  if (unreadable > 0) {
    sentences.push(`${nodeCount(unreadable)} whose record cannot be read, not included in the sum.`)
  }
  if (unpriced > 0 && price !== undefined) {
    sentences.push(`${nodeCount(unpriced)} without an exact price: the sum includes only the known part.`)
  }
  return sentences
}

/**
 * The current cost of the nodes, in groups. If the list could not be read to its end, the total is known only as a minimum, in the fields
 * that begin with `min`.
 */
export const currentCosts = Effect.fnUntraced(function* (by: Grouping) {
  const [list, catalogue] = yield* Effect.all([shownList, recentCatalogue], { concurrency: 2 })
  const own = yield* commitmentLog.load
  const nowMillis = yield* Clock.currentTimeMillis
  const fleets = by === "fleet" || by === "tag" ? yield* ownMemberships : undefined
  const { total, ...found } = costs(
    list,
    { prices: pricesOf(catalogue), own, nowMillis, ...(fleets && { fleets }) },
    by
  )
  return { ...found, total: list.isWhole ? total : { ...total, ...sumOfPrices([total, unknownPrice]) } }
})

const costNow = Effect.fnUntraced(function* (by: Grouping) {
  const { ending, rows, total } = yield* currentCosts(by)
  yield* printAll(costRecord, rows)
  if (total.nodes > 0) for (const text of totalTexts(total)) yield* printNote(text)
  if (by === "fleet" || by === "tag") {
    const what = by === "tag" ? "Tags are those that berth apply sent" : "Fleets are those that berth knows"
    yield* printNote(
      `${what}, by their ledgers: berth fleet list. The service does not report ${by === "tag" ? "tags" : "fleets"}.`
    )
  }
  if (total.nodes > 0 && ending > 0)
    yield* printNote(`${nodeCount(ending)} being deleted, not included in the sum: it may be billed until it is gone.`)
})

export const cost = command(
  {
    by: flag("by", oneOf(groupings, "GROUP"), "One row per node, plan, status, fleet or tag; default node"),
    ...historyFlags
  },
  Effect.fnUntraced(function* ({ by, ...history }) {
    const isOfPast = isHistory(history)
    if (isOfPast && by !== undefined) {
      return yield* new UsageFault({
        message:
          "--by cannot be combined with --since or --month: berth-watch reports the cost of whole accounts, by day.",
        hint: "Leave one of them out."
      })
    }
    if (isOfPast) return yield* costHistory(history)
    if (history.watchUrl !== undefined) {
      return yield* new UsageFault({
        message: "--watch-url needs --since or --month: the current cost does not come from berth-watch.",
        hint: "Run: berth cost --month"
      })
    }
    yield* Effect.provide(costNow(by ?? "node"), client)
  })
)
