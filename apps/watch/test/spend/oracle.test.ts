/**
 * The spending of accounts behind a service that answers wrongly in every known way, compared with what their nodes truly cost.
 */
import { isSoak } from "@berthkit/testing/chance"
import { exactPrice } from "@berthkit/core/domain/Price"
import { describe, expect, it } from "@effect/vitest"
import { noPlanNames } from "../../src/diff/catalogue/PlanNames.ts"
import type { CataloguePlan } from "../../src/diff/CatalogueFact.ts"
import { perDay, sumOf } from "../../src/spend/Days.ts"
import { beginWith, followNodes } from "../../src/spend/follow.ts"
import { monthOf } from "../../src/spend/calendar.ts"
import type { Ledger } from "../../src/spend/Ledger.ts"
import { aNode } from "../diff/aNode.ts"
import { historyOf } from "../diff/oracle/history.ts"
import { type Follow, type History, watch } from "../diff/oracle/watching.ts"

const perHour = 10_000_000n

const { plan } = aNode({ id: 1 })
const plans = {
  plans: new Map([[plan!, { plan: plan!, ...exactPrice(10, null), prices: [] } as unknown as CataloguePlan]]),
  names: noPlanNames,
  currencies: []
}

/** The errors in the spending after a history. */
const complaintsOf = (history: History): ReadonlyArray<string> => {
  let ledger: Ledger | null = null
  const seen = new Set<string>()
  const follow: Follow = (before, difference, observation, { sweepMillis }) => {
    const { nodes, standing } = difference
    if (standing.baselineMillis === null) return
    for (const { incarnation, node } of nodes) seen.add(`${node.id} ${incarnation}`)
    const nowMillis = difference.exchange.answered.atMillis
    // Begin as if the prices had always been known.
    const begun: Ledger = ledger ?? beginWith([], plans, 0, nowMillis).ledger
    const isSweep = observation._tag === "SweepCompleted"
    ledger = followNodes(begun, before, difference, plans, { sweepMillis, isSweep }).ledger
  }
  const { world } = watch(history, follow)
  const known = ledger as Ledger | null
  if (known === null) return []
  const fromMillis = monthOf(known.sinceMillis).fromMillis
  // An instant long after the last change.
  const toMillis = known.sinceMillis + 10 * 3_600_000
  const [low, high, , open] = sumOf(perDay(known.days, fromMillis, toMillis))
  let truth = 0n
  for (const life of world.lives) {
    if (!seen.has(`${life.id} ${Math.floor(life.createdMillis / 1000)}`)) continue
    const millis = Math.min(life.goneMillis, toMillis) - Math.max(life.createdMillis, fromMillis)
    truth += perHour * BigInt(Math.max(0, millis))
  }
  const named = `in ${JSON.stringify(history)}`
  return [
    ...(low <= truth ? [] : [`at least ${low}, and truly ${truth} ${named}`]),
    ...(open > 0n || high >= truth ? [] : [`at most ${high}, and truly ${truth} ${named}`])
  ]
}

describe("what an account spent behind a service that lies", () => {
  it("is within its bounds in random histories with many faults together", () => {
    const seeds = Array.from({ length: isSoak ? 200 : 30 }, (_, index) => 500 + index)
    // Some histories have no right result: a stale reply shows a node that was gone, a wall clock that is set gives no correct times, and
    // after an exchange of keys an account without nodes may be another account, so the known nodes still count.
    const beyond: ReadonlyArray<string> = ["clock", "rotation", "stranger"]
    const histories = seeds.map((seed) => {
      const history = historyOf(seed)
      const kinds = history.kinds.filter((kind) => !kind.startsWith("stale"))
      return { ...history, kinds, process: history.process.filter((fault) => !beyond.includes(fault)) }
    })
    expect(histories.flatMap(complaintsOf)).toEqual([])
  })
})
