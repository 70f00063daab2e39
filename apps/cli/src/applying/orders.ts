/**
 * The orders of a plan: whether each group can be ordered, with the place in the file of what is wrong, and what the orders cost.
 */
import type { PriceList } from "@berthkit/core/domain/Price"
import { quoted } from "@berthkit/terminal/quoted"
import { Effect, Result } from "effect"
import { type Catalogue, recentCatalogue } from "../catalogue/ImageList.ts"
import { UsageFault } from "../failure/CliFailure.ts"
import type { Change, LoadedGroup, Plan } from "../fleet/Change.ts"
import { isWantedKind } from "../fleet/differences.ts"
import type { Judged } from "../fleet/FleetFile.ts"
import { optionsOf } from "../fleet/planPrice.ts"
import { reportLeftOut } from "../output/progress.ts"
import { offerFor, planFault, pricesOfOrders } from "../proposal/offer.ts"
import type { FleetPlace, ReadFleet } from "./FleetPlace.ts"
import type { TimedPrices } from "./freshPrices.ts"

/** Whether a change needs no order, because the node has the plan and the image that the file asks for. */
const isSettled = (change: Change, { order }: LoadedGroup): boolean => {
  switch (change.action) {
    case "create":
    case "replace":
    case "commit":
      return false
    case "differs":
      return isWantedKind(change.node, order)
    default:
      return true
  }
}

/**
 * Whether the group needs no order because it already matches its definition. Such a group may use a plan that is no
 * longer offered.
 */
export const ordersNothing = ({ changes }: Plan, group: LoadedGroup): boolean => {
  const own = changes.filter(({ member }) => member.group === group.group)
  return own.length > 0 && own.every((change) => isSettled(change, group))
}

/**
 * The hint if berth refuses an order because of a wrong image list. `berth apply` has no `--force`. Instead, the user can create one node
 * by hand, which shows whether the service accepts the order.
 */
const byHand =
  "; if the list is wrong, create the node with berth node create --force and add it with berth fleet adopt."

/**
 * Fails, with the place in the file, if a group cannot be ordered: its plan is unknown, its image does not fit the plan, or its commitment
 * is not offered.
 */
const checkOrders = Effect.fnUntraced(function* (
  plan: Plan,
  { groups }: ReadFleet,
  catalogue: Catalogue,
  prices: PriceList,
  { file }: FleetPlace
) {
  for (const each of groups) {
    const { commitment, group, order, placeOf } = each
    if (ordersNothing(plan, each)) continue
    const faultAt = (setting: Judged, message: string, hint: string) => {
      const { column, line } = placeOf(setting)
      const at = `${file}:${line}:${column}: nodes.${group}.${setting}`
      return new UsageFault({ message: `${at}: ${message}`, hint: hint.replace(/; --force .*$/, byHand) })
    }
    const noPlan = planFault(order, catalogue.images)
    if (noPlan !== undefined && Result.isFailure(noPlan))
      return yield* faultAt("plan", noPlan.failure.message, noPlan.failure.hint)
    if (order.savedImageTemplateId === undefined) {
      yield* Effect.mapError(offerFor({ ...order, name: group }, catalogue, { force: false }), ({ hint, message }) =>
        faultAt("image", message, hint)
      )
    }
    if (commitment === null || commitment.days === null) continue
    const found = optionsOf(each, prices)
    if (found.length === 1) continue
    const offered = prices.ofOrder(order).committedOptions.map(({ days }) => `${days}d`)
    const message =
      found.length > 1
        ? `The plan ${order.plan} has several committed options of ${commitment.days} days.`
        : `The plan ${order.plan} has no committed option of ${commitment.days} days; it has ${offered.length === 0 ? "none" : offered.join(", ")}.`
    return yield* faultAt("commitment", message, `See berth plan get ${quoted(order.plan)}`)
  }
})

/** The prices that berth shows with the plan of changes and compares with the limits. Fails if a group cannot be ordered. */
export const pricesFor = Effect.fnUntraced(function* (
  plan: Plan,
  fleet: ReadFleet,
  place: FleetPlace,
  isDestroy: boolean
) {
  const catalogue = yield* recentCatalogue
  yield* reportLeftOut
  const prices = yield* pricesOfOrders(
    fleet.groups.map(({ order }) => order),
    catalogue
  )
  if (!isDestroy) yield* checkOrders(plan, fleet, catalogue, prices, place)
  return { ...prices, readMillis: catalogue.readMillis } satisfies TimedPrices
})
