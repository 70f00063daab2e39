/**
 * Losses of nodes: random ones, and ones for which few requests are left apart from those that row 1 of docs/reference/latency.md reserves.
 */
import { seed } from "@berthkit/testing/chance"
import { budgetOf, hourly } from "../../../src/observe/RequestShare.ts"
import { chanceFrom } from "../../diff/Chance.ts"
import type { Asked } from "./bound.ts"
import { noLies } from "./deletions.ts"

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** A large share is used up within two minutes or never, so later losses and longer holds would take many requests and show nothing new. */
const large = 5000

const drawn = (run: number): Asked => {
  const chance = chanceFrom(seed + run)
  const one = <A>(...among: ReadonlyArray<A>) => among[chance.below(among.length)]!
  const size = one(40, 90, 97, 230, 400, 1100, 2600, 2990)
  const limit = one(300, 600, 1200, 1200, 5000, 20_000, 100_000)
  return {
    size,
    lost: Math.min(one(1, 5, 19, 25, 43, 70, 200), Math.floor(size / 2)),
    atMillis: one(30 * second, 2 * minute, 5 * minute, 10 * minute, 30 * minute, 4000 * second) + chance.below(minute),
    isIll: one(true, false),
    intervalMillis: one(null, 200, 1000, 5000, 15_000, 60_000),
    budget: budgetOf(one(0.3, 0.6, 0.6, 0.9), { limit, windowMillis: one(hour, hour, 10 * minute, minute) }),
    graceMillis: one(2, 10, 60) * second,
    holdMillis: one(15, 120, 600) * second,
    lies: one(noLies, {
      failing: one(0, 0.05, 0.2),
      staleMillis: one(0, 30, 90) * second,
      hanging: one(0, 0, 0.3),
      lacking: one(0, 0, 3),
      lackingOf: one(1, 10)
    }),
    seed: seed + run
  }
}

/** Any account, share and interval, by number. */
export const randomLoss = (run: number): Asked => {
  const loss = drawn(run)
  if (loss.budget.requests * (hour / loss.budget.windowMillis) <= large) return loss
  const atMillis = Math.min(loss.atMillis, 2 * minute + (loss.atMillis % minute))
  return { ...loss, atMillis, holdMillis: Math.min(loss.holdMillis, 2 * minute) }
}

const calm: Asked = {
  size: 230,
  lost: 43,
  atMillis: 42 * second,
  isIll: true,
  intervalMillis: 200,
  budget: hourly(720),
  graceMillis: 2 * second,
  holdMillis: 15 * second,
  lies: noLies,
  seed
}

/**
 * Losses after configured sweeps have taken their part, or with a small share. Some of these reports would be late if no requests were kept
 * for proofs.
 */
export const tight: ReadonlyArray<readonly [what: string, Asked]> = [
  ["of many, after sweeps every 200 ms", { ...calm, size: 400, lost: 200, isIll: false, atMillis: 20 * minute }],
  [
    "of a small account, after sweeps every 200 ms",
    { ...calm, size: 90, lost: 45, isIll: false, atMillis: 20 * minute }
  ],
  [
    "after many were hidden, in a window of ten minutes",
    {
      ...calm,
      size: 2600,
      lost: 5,
      holdMillis: 2 * minute,
      atMillis: 100 * second,
      budget: { requests: 720, windowMillis: 10 * minute }
    }
  ],
  [
    "where sweeps wait for a small share longer than they should take while it has room",
    {
      ...calm,
      size: 400,
      lost: 25,
      atMillis: 335 * second,
      intervalMillis: second,
      budget: hourly(90),
      graceMillis: 10 * second,
      holdMillis: 10 * minute
    }
  ],
  ["with a small share", { ...calm, size: 1100, lost: 40, isIll: false, intervalMillis: null, budget: hourly(180) }]
]

/** Most sweeps do not fit into the share of this account, but the proof of a deletion has no reason to wait for them. */
export const unpaid = (intervalMillis: number): Asked => ({ ...calm, intervalMillis })
