import type { Node } from "@berthkit/core/domain/Node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { openAccount } from "../../src/account/WatchedAccount.ts"
import { openCatalogue } from "../../src/account/WatchedCatalogue.ts"
import { defaultRules } from "../../src/diff/Snapshot.ts"
import type { Moment } from "../../src/diff/Observation.ts"
import { beginning } from "../../src/events/Cursor.ts"
import { costsOf } from "../../src/http/costs.ts"
import type { AlertRules } from "../../src/spend/alerts.ts"
import { Store } from "../../src/store/Store.ts"
import { aNode } from "../diff/aNode.ts"
import { aPlanWith, readAt } from "../diff/catalogue/reading.ts"
import { memoryStore as store } from "../store/memory.ts"

const minute = 60_000
const hour = 60 * minute

/** Midnight in India at the beginning of a month. */
const begin = Date.parse("2026-02-28T18:30:00Z")

const plan = "A-1VCPU-1RAM-15DISK"

/** ₹10 an hour. */
const node = (id: number, over: Partial<Node> & { readonly createdAtMillis?: number } = {}) =>
  aNode({ id, plan, image: "Ubuntu-24.04", createdAtMillis: begin - hour, ...over })

const none: AlertRules = { budget: null, forgottenMillis: null, leases: new Map() }

const moment = (minutes: number, order: number): Moment => ({
  order,
  atMillis: begin + minutes * minute,
  monotonicMillis: minutes * minute,
  serviceMillis: begin + minutes * minute
})

/** A process that takes the account over; it sweeps and reads prices at some minute. */
const take = Effect.fnUntraced(function* (rules: Partial<AlertRules> = {}, fromMinutes = 0) {
  let order = 0
  let sweep = 0
  const current = { ...none, ...rules }
  const account = yield* openAccount({
    name: "a",
    fingerprint: null,
    begun: moment(fromMinutes, 0),
    alertRules: () => current
  })
  const catalogue = yield* openCatalogue(account)
  const at = (minutes: number) => {
    const now = moment(minutes, ++order)
    return { asked: now, answered: now }
  }
  const own = { ...defaultRules, sweepMillis: hour }
  return {
    sweeps: Effect.fnUntraced(function* (minutes: number, ...nodes: ReadonlyArray<Node>) {
      const begun = at(minutes)
      sweep += 1
      yield* account.observe({ _tag: "PageRead", ...at(minutes), sweep, isEnd: false, nodes, unreadable: [] }, own)
      const extent = { sweep, requests: 1, listed: nodes.length, nameless: 0 }
      yield* account.observe({ _tag: "SweepCompleted", ...at(minutes), asked: begun.asked, ...extent }, own)
    }),
    denies: (minutes: number, id: number) =>
      account.observe({ _tag: "NodeMissing", ...at(minutes), nodeId: node(id).id }, own),
    reads: (minutes: number, perHour: number) =>
      catalogue.observe({ ...readAt(minutes, [aPlanWith(plan, { "Ubuntu-24.04": perHour * 730 })]), ...at(minutes) }),
    /** The plan has its SKU as its name; another plan has a price in dollars. */
    readsToday: (minutes: number, perHour: number) =>
      catalogue.observe({
        ...readAt(minutes, [
          aPlanWith("A.1GB", { "Ubuntu-24.04": perHour * 730 }),
          aPlanWith("B.2GB", { "Ubuntu-24.04": null })
        ]),
        names: [{ plan, sku: "A.1GB", image: "Ubuntu-24.04" }],
        foreignPrices: [{ plan: "B.2GB", currency: "USD", perHour: 0.04, perMonth: null }],
        ...at(minutes)
      })
  }
})

const logged = Effect.gen(function* () {
  const { after } = yield* Store
  const events = yield* after(beginning, 99)
  return events.flatMap(({ body, type }) => (/cost|lease/.test(type) ? [JSON.parse(body)] : []))
})

const types = Effect.map(logged, (events) =>
  events.map(({ data, type }) => `${type} ${data.thresholdPercent ?? data.reason ?? ""}`.trim())
)

const spent = Effect.fnUntraced(function* (minutes: number) {
  const [cost] = yield* costsOf(yield* Store, new Set(["a"]), {}, begin + minutes * minute)
  return cost!
})

const budget = { monthInr: 8000, warnPercent: [1, 2] }

describe("the spending of an account", () => {
  it.effect("is what its nodes cost since they were created, and goes on in another process", () =>
    Effect.gen(function* () {
      const first = yield* take()
      yield* first.reads(-10, 10)
      yield* first.sweeps(0)
      yield* first.sweeps(1)
      yield* first.sweeps(60, node(1, { createdAtMillis: begin + 30 * minute }))
      expect((yield* spent(90)).spent).toMatchObject({ amountInr: 10, minInr: 10, maxInr: 10, errorInr: 0 })
      const next = yield* take()
      yield* next.sweeps(
        120,
        node(1, { createdAtMillis: begin + 30 * minute }),
        node(2, { createdAtMillis: begin + 90 * minute })
      )
      const cost = yield* spent(150)
      expect(cost).toMatchObject({ spent: { amountInr: 30, errorInr: 0 }, perHour: { minInr: 20, maxInr: 20 } })
      // The first node runs for half an hour less than the 744 hours of the month, the second one for an hour and a half less.
      expect(cost.forecast).toMatchObject({ amountInr: 14_860, errorInr: 0 })
    }).pipe(Effect.scoped, Effect.provide(store))
  )

  it.effect("has the price of a node that shows a slug, and names currencies that are in no amount", () =>
    Effect.gen(function* () {
      const first = yield* take()
      yield* first.sweeps(0)
      const nodes = [node(1, { image: null }), node(2, { plan: "B.2GB" })]
      yield* first.sweeps(1, ...nodes)
      yield* first.readsToday(2, 10)
      yield* first.sweeps(60, ...nodes)
      const cost = yield* spent(60)
      expect(cost).toMatchObject({ perHour: { minInr: 10, maxInr: null }, currencies: ["USD"] })
      const next = yield* take()
      yield* next.sweeps(120, node(1, { plan: "A.1GB" }), node(2, { plan: "B.2GB" }))
      const { after } = yield* Store
      expect((yield* after(beginning, 99)).map(({ type }) => type)).not.toContain("berth.node.changed")
      expect(yield* spent(180)).toMatchObject({ perHour: { minInr: 10, maxInr: null }, currencies: ["USD"] })
    }).pipe(Effect.scoped, Effect.provide(store))
  )

  it.effect("is bounded by the sweeps between which a node went, and then does not grow", () =>
    Effect.gen(function* () {
      const { denies, reads, sweeps } = yield* take()
      yield* reads(-10, 10)
      for (const minutes of [0, 1, 60]) yield* sweeps(minutes, node(1), node(2))
      for (const minutes of [120, 121]) yield* sweeps(minutes, node(1))
      for (const minutes of [122, 124]) yield* denies(minutes, 2)
      for (const minutes of [125, 126]) yield* sweeps(minutes, node(1))
      const { spent: amount } = yield* spent(180)
      expect(amount).toMatchObject({ minInr: 40, maxInr: 50.84, amountInr: 45.42, errorInr: 5.42 })
      expect((yield* spent(240)).spent).toMatchObject({ minInr: 50, maxInr: 60.84 })
    }).pipe(Effect.scoped, Effect.provide(store))
  )

  it.effect("of a price that was read later has no upper bound, and states the assumption", () =>
    Effect.gen(function* () {
      const { reads, sweeps } = yield* take()
      for (const minutes of [0, 1]) yield* sweeps(minutes, node(1))
      expect((yield* spent(30)).spent).toMatchObject({ amountInr: 0, maxInr: null, unpricedNodeHours: 0.5 })
      yield* reads(60, 10)
      const { spent: amount } = yield* spent(120)
      expect(amount).toMatchObject({ amountInr: 20, minInr: 10, maxInr: null, assumedInr: 10, unpricedNodeHours: 1 })
    }).pipe(Effect.scoped, Effect.provide(store))
  )

  it.effect("says for how long nothing was observed", () =>
    Effect.gen(function* () {
      const { sweeps } = yield* take()
      for (const minutes of [60, 61, 61 + 24 * 60]) yield* sweeps(minutes, node(1))
      expect((yield* spent(27 * 60)).spent.unobservedMillis).toBe(61 * minute + 24 * hour)
    }).pipe(Effect.scoped, Effect.provide(store))
  )

  it.effect("is not written while nothing changes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const version = Effect.map(sql`SELECT version FROM account`.values, ([row]) => row)
      const { sweeps } = yield* take({ budget })
      for (const minutes of [0, 1]) yield* sweeps(minutes, node(1))
      const before = yield* version
      for (const seconds of [10, 20, 30, 40]) yield* sweeps(1 + seconds / 60, node(1))
      expect(yield* version).toEqual(before)
    }).pipe(Effect.scoped, Effect.provide(store))
  )
})

describe("a budget", () => {
  it.effect("is reported once a month for each part, through restarts and new owners", () =>
    Effect.gen(function* () {
      const first = yield* take({ budget })
      yield* first.reads(-10, 10)
      for (const minutes of [0, 1, 8 * 60]) yield* first.sweeps(minutes, node(1))
      expect(yield* types).toEqual(["berth.cost.budget_crossed 1"])
      yield* first.sweeps(8 * 60 + 1, node(1))
      const next = yield* take({ budget }, 8 * 60 + 2)
      for (const minutes of [8 * 60 + 2, 16 * 60, 17 * 60]) yield* next.sweeps(minutes, node(1))
      expect(yield* types).toEqual(["berth.cost.budget_crossed 1", "berth.cost.budget_crossed 2"])
      const day = 24 * 60
      yield* next.sweeps(31 * day + 9 * 60, node(1))
      const [, , third] = yield* logged
      expect(third).toMatchObject({
        type: "berth.cost.budget_crossed",
        data: { month: "2026-04", budgetInr: 8000, thresholdPercent: 1, monthToDateInr: 90 }
      })
      expect(yield* types).toHaveLength(3)
    }).pipe(Effect.scoped, Effect.provide(store))
  )

  it.effect("that the month is going to exceed is reported once, and another one anew", () =>
    Effect.gen(function* () {
      const small = yield* take({ budget: { monthInr: 5000, warnPercent: [100] } })
      yield* small.reads(-10, 10)
      for (const minutes of [0, 1, 2, 3]) yield* small.sweeps(minutes, node(1))
      expect(yield* logged).toMatchObject([
        { type: "berth.cost.forecast_exceeded", data: { month: "2026-03", budgetInr: 5000, forecastInr: 7440 } }
      ])
      const larger = yield* take({ budget: { monthInr: 7000, warnPercent: [100] } }, 4)
      for (const minutes of [4, 5]) yield* larger.sweeps(minutes, node(1))
      const back = yield* take({ budget: { monthInr: 5000, warnPercent: [100] } }, 6)
      for (const minutes of [6, 7]) yield* back.sweeps(minutes, node(1))
      expect((yield* logged).map(({ data }) => data.budgetInr)).toEqual([5000, 7000])
    }).pipe(Effect.scoped, Effect.provide(store))
  )
})

describe("a node that nobody seems to need", () => {
  it.effect("is reported once when it was off for so long, and again after it was on", () =>
    Effect.gen(function* () {
      const first = yield* take({ forgottenMillis: hour })
      yield* first.reads(-10, 10)
      const off = node(1, { status: "power-off" })
      for (const minutes of [0, 1, 59]) yield* first.sweeps(minutes, off)
      expect(yield* types).toEqual([])
      yield* first.sweeps(61, off)
      const next = yield* take({ forgottenMillis: hour }, 62)
      for (const minutes of [62, 63]) yield* next.sweeps(minutes, off)
      expect(yield* logged).toMatchObject([
        { type: "berth.cost.idle", subject: "nodes/1", data: { reason: "off", pricePerHourInr: 10, after: { id: 1 } } }
      ])
      yield* next.sweeps(64, node(1))
      for (const minutes of [65, 126]) yield* next.sweeps(minutes, off)
      expect(yield* types).toEqual(["berth.cost.idle off", "berth.cost.idle off"])
    }).pipe(Effect.scoped, Effect.provide(store))
  )

  it.effect("is reported once when its lease is over", () =>
    Effect.gen(function* () {
      const leases = new Map([[1, { endMillis: begin + 30 * minute, toleranceMillis: 0 }]])
      const first = yield* take({ leases })
      for (const minutes of [0, 1, 29]) yield* first.sweeps(minutes, node(1))
      expect(yield* types).toEqual([])
      yield* first.sweeps(31, node(1))
      const next = yield* take({ leases, forgottenMillis: 72 * hour }, 32)
      for (const minutes of [32, 33]) yield* next.sweeps(minutes, node(1))
      expect(yield* types).toEqual(["berth.node.lease_expired", "berth.cost.idle lease"])
    }).pipe(Effect.scoped, Effect.provide(store))
  )
})
