/**
 * Updates the ledger (the stored spending) of an account after proven changes of its nodes, and after reads of the prices.
 * Pure.
 */
import { DateTime } from "effect"
import { createdMillisOf, type NodeId } from "@berthkit/core/domain/Node"
import { type Catalogue, namesOf } from "../diff/catalogue/Catalogue.ts"
import type { PlanNames } from "../diff/catalogue/PlanNames.ts"
import type { CataloguePlan, EntryFact } from "../diff/CatalogueFact.ts"
import type { Difference } from "../diff/diff.ts"
import type { NodeFact } from "../diff/Fact.ts"
import type { NodeState } from "../diff/Belief.ts"
import type { Rules, Snapshot } from "../diff/Snapshot.ts"
import { dayStart } from "./calendar.ts"
import { begin, keyOf, type Ledger, LedgerDraft } from "./Ledger.ts"
import { type HourlyPrice, type Lives, priceWith, unknown } from "./PriceSteps.ts"

export interface Followed {
  readonly ledger: Ledger
  /** Whether the ledger must be written. It need not be written if a read of the prices only made some kept starts and ends obsolete. */
  readonly isDurable: boolean
  /** Numbers of the changed days. */
  readonly days: ReadonlyArray<number>
}

/** Time between two sweeps counts as not observed only if it is longer than this, and than this many planned intervals. */
const minBlindMillis = 3 * 60_000
const blindSweeps = 3

/** Plans by name; plans that are no longer offered keep their price. */
export interface PlanPrices {
  readonly plans: ReadonlyMap<string, CataloguePlan>
  readonly names: PlanNames
  /** Currencies other than rupees. */
  readonly currencies: ReadonlyArray<string>
}

export const plansOf = (catalogue: Catalogue): PlanPrices => ({
  plans: new Map(catalogue.plans.map(({ item }) => [item.plan, item])),
  names: namesOf(catalogue),
  currencies: Array.from(new Set(catalogue.foreignPrices?.map(({ currency }) => currency))).toSorted()
})

/**
 * The price of a node. If the node shows a slug, its image is one of that slug's images. A name that is both a slug and a SKU
 * counts as a slug.
 */
const priceOf = (
  { names, plans }: PlanPrices,
  { image, plan }: Pick<NodeState["node"], "plan" | "image">
): HourlyPrice => {
  if (plan === null) return unknown
  const slugs = names.ofSlug(plan)
  const [{ sku } = { sku: plan }] = slugs
  return priceWith(plans.get(sku), image, new Set(slugs.map((slug) => slug.image)))
}

type Between = readonly [fromMillis: number, toMillis: number]

const millisOf = ([from, to]: NodeFact["data"]["observedBetween"]): Between => [
  DateTime.toEpochMillis(from),
  DateTime.toEpochMillis(to)
]

const isAlive = (state: NodeState | undefined): state is NodeState => state !== undefined && state.goneMillis === null

const isSamePrice = (a: NodeState, b: NodeState): boolean =>
  a.node.plan === b.node.plan && a.node.image === b.node.image

/** Collects starts and ends by plan and image. Starts and ends at the same instant are added up. */
class Gathered {
  readonly #groups = new Map<string, { readonly node: NodeState["node"]; readonly lives: Map<string, Lives> }>()

  add({ node }: NodeState, life: Lives): void {
    const key = keyOf(node.plan, node.image)
    const group = this.#groups.get(key) ?? { node, lives: new Map<string, Lives>() }
    const at = `${life.fromMillis} ${life.side}`
    const same = group.lives.get(at)
    group.lives.set(at, same === undefined ? life : { ...same, count: same.count + life.count })
    this.#groups.set(key, group)
  }

  *[Symbol.iterator]() {
    for (const { lives, node } of this.#groups.values()) yield { node, lives: Array.from(lives.values()) }
  }
}

/** When the node started to cost money, but not before the first kept day; now if unknown. */
const beginOf = ({ node }: NodeState, firstMillis: number, nowMillis: number): number =>
  Math.max(firstMillis, Math.min(createdMillisOf(node) ?? nowMillis, nowMillis))

const firstMillisOf = ({ days }: Ledger): number => {
  const [first] = days.keys()
  return first === undefined ? -Infinity : dayStart(first)
}

/** The first ledger of an account, with the nodes of the baseline. */
export const beginWith = (
  states: Iterable<NodeState>,
  plans: PlanPrices,
  pricedMillis: number | null,
  nowMillis: number
): Followed => {
  const draft = new LedgerDraft(begin(nowMillis, pricedMillis), true)
  if (plans.currencies.length > 0) draft.set({ currencies: plans.currencies })
  const gathered = new Gathered()
  const firstMillis = firstMillisOf(draft.before)
  for (const state of states) {
    if (isAlive(state))
      gathered.add(state, { fromMillis: beginOf(state, firstMillis, nowMillis), count: 1, side: "both" })
  }
  for (const { lives, node } of gathered) draft.addLives(node.plan, node.image, priceOf(plans, node), lives)
  return { ledger: draft.result(nowMillis), isDurable: true, days: Array.from(draft.changedDays) }
}

/** The ledger after a difference of the nodes. It changes only if a plan, an image, a start or an end changed. */
export const followNodes = (
  ledger: Ledger,
  before: Snapshot,
  { exchange, facts, nodes, standing }: Difference,
  plans: PlanPrices,
  sweep: Pick<Rules, "sweepMillis"> & { readonly isSweep: boolean }
): Followed => {
  const blind = sweep.isSweep
    ? blindBefore(before.standing.sweptMillis, exchange.asked.atMillis, sweep.sweepMillis)
    : null
  if (blind === null && nodes.length === 0) return { ledger, isDurable: false, days: [] }
  const draft = new LedgerDraft(ledger, false)
  if (blind !== null && standing.baselineMillis !== null) draft.addBlind(...blind)
  const nowMillis = exchange.answered.atMillis
  const firstMillis = firstMillisOf(ledger)
  const gathered = new Gathered()
  const observed = new Map<string, Between>()
  for (const { data, identity, type } of facts) {
    if (type !== "berth.node.deleted" && type !== "berth.node.changed") continue
    observed.set(`${type} ${identity.nodeId} ${identity.incarnation}`, millisOf(data.observedBetween))
  }
  const betweenOf = (type: NodeFact["type"], { incarnation, node }: NodeState): Between | undefined =>
    observed.get(`${type} ${node.id} ${incarnation}`)
  const ends = (state: NodeState, [fromMillis, toMillis]: Between) => {
    gathered.add(state, { fromMillis, count: -1, side: "low" })
    gathered.add(state, { fromMillis: toMillis, count: -1, side: "high" })
  }
  for (const state of nodes) {
    const known = before.nodes.get(state.node.id as NodeId)?.state
    const isSame = known?.incarnation === state.incarnation
    const wasAlive = isAlive(known)
    if (wasAlive && !(isSame && isAlive(state))) {
      ends(known, betweenOf("berth.node.deleted", known) ?? [Math.min(known.seenMillis, nowMillis), nowMillis])
    }
    if (!isAlive(state) || (wasAlive && isSame && isSamePrice(known, state))) continue
    const fromMillis = beginOf(state, firstMillis, nowMillis)
    if (wasAlive && isSame) {
      const changed =
        known.node.plan === null || known.node.plan === state.node.plan
          ? undefined
          : betweenOf("berth.node.changed", state)
      if (changed === undefined) {
        // The plan or image was only unknown before, so the node has had it from the start.
        gathered.add(known, { fromMillis, count: -1, side: "both" })
        gathered.add(state, { fromMillis, count: 1, side: "both" })
      } else {
        ends(known, changed)
        gathered.add(state, { fromMillis: changed[1], count: 1, side: "low" })
        gathered.add(state, { fromMillis: changed[0], count: 1, side: "high" })
      }
    } else if (state.life > 1) {
      // The node was reported deleted, but may have existed all the time.
      const goneMillis = known?.goneMillis ?? nowMillis
      gathered.add(state, { fromMillis: nowMillis, count: 1, side: "low" })
      gathered.add(state, { fromMillis: Math.max(firstMillis, goneMillis), count: 1, side: "high" })
    } else {
      gathered.add(state, { fromMillis, count: 1, side: "both" })
    }
  }
  for (const { lives, node } of gathered) draft.addLives(node.plan, node.image, priceOf(plans, node), lives)
  const after = draft.result(nowMillis)
  return { ledger: after, isDurable: after !== ledger, days: Array.from(draft.changedDays) }
}

/** The unobserved time before a sweep that came much later than planned. */
const blindBefore = (sweptMillis: number | null, askedMillis: number, sweepMillis: number): Between | null =>
  sweptMillis !== null && askedMillis - sweptMillis > Math.max(minBlindMillis, blindSweeps * sweepMillis)
    ? [sweptMillis, askedMillis]
    : null

/** The ledger after a read of the catalogue, with new and changed prices. */
export const followPrices = (
  ledger: Ledger,
  before: Catalogue,
  after: Catalogue,
  facts: ReadonlyArray<EntryFact>,
  nodes: Snapshot["nodes"],
  { confirmedMillis, nowMillis }: { readonly confirmedMillis: number; readonly nowMillis: number }
): Followed => {
  const draft = new LedgerDraft(ledger, false)
  if (ledger.pricedMillis === null && after.readMillis !== null) draft.set({ pricedMillis: nowMillis })
  const [were, are] = [plansOf(before), plansOf(after)]
  const { currencies } = are
  if (currencies.join() !== (ledger.currencies ?? []).join()) draft.set({ currencies })
  const others = new Map<string, Between>()
  for (const [plan, item] of are.plans) {
    const known = were.plans.get(plan)
    if (known === undefined || known === item || known.prices === item.prices) continue
    const fact = facts.find((each) => each.type === "berth.plan.price_changed" && each.subject === `plans/${plan}`)
    const between =
      fact === undefined ? ([before.readMillis ?? nowMillis, nowMillis] as const) : millisOf(fact.data.observedBetween)
    for (const name of [plan, ...are.names.slugsOf(plan)]) others.set(name, between)
  }
  if (others.size > 0) {
    const changed = Array.from(others, ([plan, [, toMillis]]) => [plan, toMillis] as const)
    draft.set({ changedPlans: new Map([...ledger.changedPlans, ...changed]) })
  }
  const firstMillis = firstMillisOf(ledger)
  for (const group of ledger.groups.values()) {
    const price = priceOf(are, group)
    const last = group.prices.at(-1)!
    if (price.low === last.low && price.high === last.high) continue
    const lives = () => {
      const own = new Gathered()
      for (const { state } of nodes.values()) {
        const { image, plan } = state.node
        if (plan === group.plan && image === group.image) {
          own.add(state, { fromMillis: beginOf(state, firstMillis, nowMillis), count: 1, side: "both" })
        }
      }
      return Array.from(own).flatMap(({ lives }) => lives)
    }
    draft.reprice(group, price, others.get(group.plan ?? "") ?? [before.readMillis ?? nowMillis, nowMillis], lives)
  }
  const isDurable = draft.result(nowMillis) !== ledger
  draft.confirm(confirmedMillis)
  return { ledger: draft.result(nowMillis), isDurable, days: Array.from(draft.changedDays) }
}
