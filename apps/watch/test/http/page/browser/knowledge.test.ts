import { describe, expect, it } from "@effect/vitest"

import { historyBegin, historyOf, stripParts } from "../../../../src/http/page/browser/history.ts"
import { Knowledge } from "../../../../src/http/page/browser/Knowledge.ts"
import { costsOf, type NodeRow, priceOf, pricesOf } from "../../../../src/http/page/browser/nodes.ts"
import type { PricedPlan, WatchEvent } from "../../../../src/http/page/browser/watchApi.ts"

const millisOf = (minute: number) => Date.UTC(2026, 2, 1, 0, minute)

const changed = (sequence: number, id: number, from: string | null, to: string | null): WatchEvent => ({
  id: `event-${sequence}`,
  source: "/accounts/default",
  sequence: String(sequence).padStart(16, "0"),
  type: "berth.node.status_changed",
  subject: `nodes/${id}`,
  time: new Date(millisOf(sequence)).toISOString(),
  data: {
    before: from === null ? null : { status: from },
    after: to === null ? null : { id, name: "web", status: to, createdAt: "2026-03-01" }
  }
})

describe("what the page knows", () => {
  it("prices a node by the SKU of its plan or by its slug, which is ordered with one image", () => {
    const price = (perMonth: number | null) => ({ pricePerMonthInr: perMonth, minPricePerMonthInr: perMonth ?? 730 })
    const prices = [
      { images: ["Ubuntu"], ...price(730) },
      { images: ["Windows"], ...price(1460) }
    ]
    const slugs = [{ image: "Windows", slug: "C3-4-Windows" }]
    const plan = { account: "a", plan: "C3.8GB", ...price(null), prices, slugs, foreignPrice: null }
    const known = pricesOf([plan as unknown as PricedPlan])
    const of = (plan: string, image: string | null) => priceOf(known, { account: "a", plan, image })
    expect([of("C3.8GB", null), of("C3.8GB", "Windows"), of("C3-4-Windows", null)]).toEqual([
      { atLeast: 730, isExact: false },
      { atLeast: 1460, isExact: true },
      { atLeast: 1460, isExact: true }
    ])
  })

  it("sums prices by plan and by tag, and counts a node under each of its tags", () => {
    const plan = { account: "a", prices: [], slugs: [], minPricePerMonthInr: 0.1, pricePerMonthInr: 0.1 }
    const known = pricesOf(["small", "large"].map((name) => ({ ...plan, plan: name }) as unknown as PricedPlan))
    const node = (plan: string, ...tags: ReadonlyArray<string>) =>
      ({ account: "a", image: null, plan, tags }) as NodeRow
    const nodes = [node("small", "web", "prod"), node("small", "web"), node("large"), node("unknown", "web")]
    const byTag = costsOf(known, nodes, ({ tags }) => tags)
    expect(byTag.byName).toEqual([
      { name: "web", nodes: 2, price: 0.2 },
      { name: "prod", nodes: 1, price: 0.1 }
    ])
    expect([byTag.total, byTag.unpriced]).toEqual([{ atLeast: 0.3, isExact: false }, 1])
  })

  it("keeps no change of an event that it has forgotten, and no node that is gone", () => {
    const known = new Knowledge()
    for (let index = 1; index <= 3000; index++) {
      known.take(changed(2 * index - 1, index, null, "running"))
      known.take(changed(2 * index, index, "running", null))
    }
    expect([known.events.length, known.nodesWithChanges, known.nodes.size]).toEqual([1000, 500, 0])
  })

  it("leaves the time before the events blank in a history, and shows no change twice", () => {
    const known = new Knowledge()
    known.setEvents([changed(10, 7, "running", "power-off")])
    known.take(changed(10, 7, "running", "power-off"))
    known.take(changed(20, 7, "power-off", "running"))
    const node = known.nodes.get("default/7")!
    expect(historyOf(node, known.pastOf(node), millisOf(0), millisOf(30))).toEqual([
      { status: "power-off", fromMillis: millisOf(10), toMillis: millisOf(20) },
      { status: "running", fromMillis: millisOf(20), toMillis: millisOf(30) }
    ])
  })

  it("begins histories at the first thing that is known of any node, and never before the time that is asked for", () => {
    const noPast = { changes: [], eventsSince: Number.POSITIVE_INFINITY }
    const node = { createdMillis: millisOf(0), sinceMillis: millisOf(30) }
    const nodes = [node, { createdMillis: millisOf(0), sinceMillis: millisOf(40) }]
    const begin = (spanMinutes: number, toMinute: number, known: typeof nodes = nodes) =>
      (historyBegin(known, spanMinutes * 60_000, millisOf(toMinute), () => noPast) - millisOf(0)) / 60_000
    expect(begin(1440, 60)).toBe(30)
    expect(begin(10, 60)).toBe(50)
    expect(begin(1440, 60, [])).toBe(59)
  })

  it("makes the shortest status wide enough to be seen, and ends a strip in the status that the node has now", () => {
    const segment = (status: string, fromMillis: number, toMillis: number) => ({ status, fromMillis, toMillis })
    const now = [segment("running", 0, 9999), segment("terminate", 9999, 10_000)]
    expect(stripParts(now, 0, 10_000)).toEqual([
      { status: "running", begin: 0, end: 98.8 },
      { status: "terminate", begin: 98.8, end: 100 }
    ])
    const short = [segment("running", 5000, 5001), segment("power-off", 5001, 8000)]
    expect(stripParts(short, 0, 10_000)).toEqual([
      { status: "running", begin: expect.closeTo(48.81), end: 50.01 },
      { status: "power-off", begin: 50.01, end: 80 }
    ])
    const many = Array.from({ length: 200 }, (_, index) => segment(`${index}`, 9000 + index, 9001 + index))
    const parts = stripParts(many, 0, 9200)
    expect(parts.at(-1)).toMatchObject({ status: "199", end: 100 })
    for (const { begin, end } of parts) expect([begin >= 0, begin <= end]).toEqual([true, true])
  })
})
