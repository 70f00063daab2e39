/**
 * The spending alerts of an account at an instant: a part of the budget is spent, the forecast exceeds the budget, or nobody
 * seems to need a node. Each alert is reported once. Pure.
 */
import type { Node } from "@berthkit/core/domain/Node"
import { DateTime } from "effect"
import type { NodeState } from "../diff/Belief.ts"
import { ofAccount } from "../diff/Fact.ts"
import type { Snapshot } from "../diff/Snapshot.ts"
import { monthOf } from "./calendar.ts"
import type { CostFact } from "./CostFact.ts"
import { forecast, monthToDate } from "./figures.ts"
import { type AlertMarks, type Budget, keyOf, type Ledger } from "./Ledger.ts"

export interface AlertRules {
  readonly budget: Budget | null
  /** How long a node may be powered off before it is reported; null: never reported. */
  readonly forgottenMillis: number | null
  /** The leases of nodes, by node id. */
  readonly leases: ReadonlyMap<number, NodeLease>
}

export interface NodeLease {
  /** When the lease ends, by the clock of the machine that has the lease. */
  readonly endMillis: number
  /** How much that clock may differ from the daemon's. */
  readonly toleranceMillis: number
}

/** The alerts about the budget. Alerts that were reported for the month are not repeated, unless the budget was changed. */
const budgetAlerts = (
  { days }: Ledger,
  { monthInr, warnPercent }: Budget,
  reported: ReadonlySet<string>,
  nowMillis: number
): ReadonlyArray<CostFact> => {
  const month = monthOf(nowMillis)
  const spent = monthToDate(days, month, nowMillis)
  const facts: Array<CostFact> = []
  const report = (version: string, fact: Omit<CostFact, "identity" | "atMillis">) => {
    if (reported.has(version)) return
    facts.push({ identity: ofAccount(version), atMillis: nowMillis, ...fact } as CostFact)
  }
  for (const thresholdPercent of warnPercent) {
    if (spent.amountInr < (monthInr * thresholdPercent) / 100) continue
    const { amountInr, maxInr, minInr } = spent
    const data = { month: month.name, budgetInr: monthInr, thresholdPercent, monthToDateInr: amountInr, minInr, maxInr }
    report(`${month.name} ${monthInr} ${thresholdPercent}%`, { type: "berth.cost.budget_crossed", data })
  }
  const { amountInr: forecastInr, maxInr, minInr } = forecast(days, month)
  if (forecastInr > monthInr) {
    const data = {
      month: month.name,
      budgetInr: monthInr,
      forecastInr,
      minInr,
      maxInr,
      monthToDateInr: spent.amountInr
    }
    report(`${month.name} ${monthInr} forecast`, { type: "berth.cost.forecast_exceeded", data })
  }
  return facts
}

/** An alert about a node. `sinceMillis`: since when its reason holds. */
interface Notice {
  readonly kind: "off" | "lease" | "expired"
  readonly sinceMillis: number
  readonly state: NodeState
}

function* noticesOf({ nodes }: Snapshot, rules: AlertRules, nowMillis: number): Generator<Notice> {
  const { forgottenMillis, leases } = rules
  if (forgottenMillis !== null) {
    for (const { state } of nodes.values()) {
      const { node, statusSinceMillis: sinceMillis } = state
      if (node.status === "power-off" && nowMillis - sinceMillis >= forgottenMillis)
        yield { kind: "off", sinceMillis, state }
    }
  }
  for (const [id, { endMillis: sinceMillis, toleranceMillis }] of leases) {
    const state = nodes.get(id as Node["id"])?.state
    if (state === undefined || sinceMillis + toleranceMillis > nowMillis) continue
    yield { kind: "expired", sinceMillis, state }
    if (forgottenMillis !== null) yield { kind: "lease", sinceMillis, state }
  }
}

const pricePerHour = ({ groups }: Ledger, { image, plan }: Node): number | null => {
  const price = groups.get(keyOf(plan, image))?.prices.at(-1)
  return price === undefined || price.high !== price.low ? null : price.low / 1_000_000
}

const factOf = (ledger: Ledger, { kind, sinceMillis, state }: Notice, nowMillis: number): CostFact => {
  const { incarnation, life, node } = state
  const common = {
    identity: { nodeId: node.id, incarnation, life, version: `${kind} ${sinceMillis}` },
    atMillis: nowMillis,
    subject: `nodes/${node.id}`
  }
  const since = DateTime.makeUnsafe(sinceMillis)
  return kind === "expired"
    ? { ...common, type: "berth.node.lease_expired", data: { expiredAt: since, after: node } }
    : {
        ...common,
        type: "berth.cost.idle",
        data: { reason: kind, since, pricePerHourInr: pricePerHour(ledger, node), after: node }
      }
}

const markOf = ({ kind, sinceMillis, state }: Notice): AlertMarks["nodes"][number] => [
  state.node.id,
  `${state.incarnation} ${state.life} ${kind} ${sinceMillis}`
]

/** The alerts to report now, and the marks afterwards. The marks are the same object if nothing is reported. */
export const alertsOf = (ledger: Ledger, snapshot: Snapshot, rules: AlertRules, nowMillis: number) => {
  const { marks } = ledger
  const reported = new Set(marks.reported)
  const facts: Array<CostFact> =
    rules.budget === null ? [] : [...budgetAlerts(ledger, rules.budget, reported, nowMillis)]
  const ofBudget = facts.map(({ identity }) => identity.version)

  const known = new Set(marks.nodes.map((mark) => mark.join()))
  const added: Array<AlertMarks["nodes"][number]> = []
  for (const notice of noticesOf(snapshot, rules, nowMillis)) {
    const mark = markOf(notice)
    if (known.has(mark.join())) continue
    added.push(mark)
    facts.push(factOf(ledger, notice, nowMillis))
  }
  if (facts.length === 0) return { marks, facts }
  const nodes = [...marks.nodes.filter((mark) => mayHold(mark, snapshot)), ...added]
  return { marks: { reported: [...reported, ...ofBudget].slice(-maxReported), nodes }, facts }
}

/**
 * Maximum number of kept versions of monthly alerts, enough for some months. They are kept because an alert must not be
 * repeated if the clock is set back.
 */
const maxReported = 1000

/**
 * Whether the reason of a reported alert may still hold. A node that was turned on and off again has a new start time. An expired lease
 * may be read once more, so marks about leases stay while the node exists.
 */
const mayHold = ([id, text]: AlertMarks["nodes"][number], { nodes }: Snapshot): boolean => {
  const state = nodes.get(id as Node["id"])?.state
  return state !== undefined && (!text.includes(" off ") || text.endsWith(` ${state.statusSinceMillis}`))
}
