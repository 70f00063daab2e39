/**
 * The spending of an account, as the store keeps it: loaded once, and changed together with the nodes and prices that determine
 * it. Code that changes nodes or prices asks here what to commit about spending.
 */
import { Clock, Effect, Semaphore } from "effect"
import { type Catalogue, unread } from "../diff/catalogue/Catalogue.ts"
import type { CatalogueDifference } from "../diff/catalogue/diffCatalogue.ts"
import type { Difference } from "../diff/diff.ts"
import type { Observation } from "../diff/Observation.ts"
import type { Rules, Snapshot } from "../diff/Snapshot.ts"
import { type AlertRules, alertsOf } from "../spend/alerts.ts"
import { dayOf, monthOf } from "../spend/calendar.ts"
import type { CostFact } from "../spend/CostFact.ts"
import { beginWith, type Followed, followNodes, followPrices, type PlanPrices, plansOf } from "../spend/follow.ts"
import { type Budget, type Ledger, openDays } from "../spend/Ledger.ts"
import { readDay, readLedger, writeDay, writeLedger } from "../spend/LedgerJson.ts"
import type { AccountChange } from "../store/accounts.ts"
import { Store } from "../store/Store.ts"

/** The effect of changed nodes or prices on spending. */
export interface SpendChange {
  readonly ledger: Ledger | null
  readonly facts: ReadonlyArray<CostFact>
  readonly durable: Pick<AccountChange, "spend" | "spendDays">
}

function* statesOf({ nodes }: Snapshot) {
  for (const { state } of nodes.values()) yield state
}

const sameBudget = (a: Budget | null, b: Budget | null): boolean => JSON.stringify(a) === JSON.stringify(b)

/**
 * The last instant at which the known prices were certainly valid: the last read or, while a change is in doubt, the
 * last read before the change.
 */
const confirmedMillis = ({ catalogue, evidence }: CatalogueDifference): number =>
  Math.min(catalogue.readMillis ?? -Infinity, ...Array.from(evidence.doubts.values(), ({ fromMillis }) => fromMillis))

/** `rules` is called each time, because leases come and go. */
export const openSpend = Effect.fnUntraced(function* (account: string, rules: () => AlertRules) {
  const store = yield* Store
  const nowMillis = yield* Clock.currentTimeMillis
  const [kept] = yield* store.spends(account)
  const rows = kept === undefined ? [] : yield* store.spendDays(dayOf(monthOf(nowMillis).fromMillis) - 40, account)
  const days = new Map(rows.map(({ body, day }) => [day, readDay(body)]))
  let ledger: Ledger | null = kept === undefined ? null : readLedger(kept.body, openDays(days, nowMillis))
  let prices: { readonly plans: PlanPrices; readonly readMillis: number | null } = {
    plans: plansOf(unread),
    readMillis: null
  }

  const changeOf = ({ days, isDurable, ledger }: Followed, facts: ReadonlyArray<CostFact> = []): SpendChange => ({
    ledger,
    facts,
    durable: isDurable
      ? {
          spend: writeLedger(ledger),
          spendDays: days.flatMap((day) => {
            const row = ledger.days.get(day)
            return row === undefined ? [] : [{ day, body: writeDay(row) }]
          })
        }
      : {}
  })

  return {
    /** The lock for changes of nodes and prices, because both change spending. */
    mailbox: yield* Semaphore.make(1),
    nodes: (
      before: Snapshot,
      difference: Difference,
      observation: Observation,
      { sweepMillis }: Rules
    ): SpendChange => {
      const { exchange, standing } = difference
      const atMillis = exchange.answered.atMillis
      if (standing.baselineMillis === null) return { ledger, facts: [], durable: {} }
      const first = ledger === null ? beginWith(statesOf(before), prices.plans, prices.readMillis, atMillis) : undefined
      const isSweep = observation._tag === "SweepCompleted"
      const begun = first?.ledger ?? ledger!
      const followed = followNodes(begun, before, difference, prices.plans, { sweepMillis, isSweep })
      const days = Array.from(new Set([...(first?.days ?? []), ...followed.days]))
      const isDurable = followed.isDurable || first !== undefined
      const isDue = (isSweep || observation._tag === "TimePassed") && standing.stranger === null
      if (!isDue) return changeOf({ ledger: followed.ledger, isDurable, days })
      const current = rules()
      const { facts, marks } = alertsOf(followed.ledger, before, current, atMillis)
      const isOtherBudget = !sameBudget(followed.ledger.budget, current.budget)
      const isChanged = isOtherBudget || marks !== followed.ledger.marks
      const noted = isChanged ? { ...followed.ledger, budget: current.budget, marks } : followed.ledger
      return changeOf({ ledger: noted, isDurable: isDurable || isChanged, days }, facts)
    },
    prices: (
      before: Catalogue,
      difference: CatalogueDifference,
      snapshot: Snapshot,
      nowMillis: number
    ): SpendChange => {
      if (ledger === null) return { ledger, facts: [], durable: {} }
      const times = { nowMillis, confirmedMillis: confirmedMillis(difference) }
      return changeOf(followPrices(ledger, before, difference.catalogue, difference.facts, snapshot.nodes, times))
    },
    /** The names of plans in the catalogue. */
    planNames: () => prices.plans.names,
    /** Sets the current catalogue. */
    notePrices: (catalogue: Catalogue) => {
      prices = { plans: plansOf(catalogue), readMillis: catalogue.readMillis }
    },
    apply: (change: SpendChange) => {
      ledger = change.ledger
    }
  }
})

export type WatchedSpend = Effect.Success<ReturnType<typeof openSpend>>
