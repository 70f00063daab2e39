import { describe, expect, it } from "@effect/vitest"

/** A script of the page, which the compiler does not read. */
const { historyBegin, historyOf, model, pastOf, priceOf, setPrices, setEvents, staleAccounts, stripParts, takeEvent } =
  await import(new URL("../../../src/http/page/model.js", import.meta.url).href)

const millisOf = (minute: number) => Date.UTC(2026, 2, 1, 0, minute)

const changed = (sequence: number, id: number, from: string | null, to: string | null) => ({
  id: `event-${sequence}`,
  source: "/accounts/default",
  sequence: String(sequence).padStart(16, "0"),
  type: "berth.node.status_changed",
  subject: `nodes/${id}`,
  time: new Date(millisOf(sequence)).toISOString(),
  data: { before: from && { status: from }, after: to && { id, name: "web", status: to, createdAt: "2026-03-01" } }
})

describe("what the page knows", () => {
  it("prices a node by the SKU of its plan or by its slug, which is ordered with one image", () => {
    const price = (perMonth: number | null) => ({ pricePerMonthInr: perMonth, minPricePerMonthInr: perMonth ?? 730 })
    const prices = [
      { images: ["Ubuntu"], ...price(730) },
      { images: ["Windows"], ...price(1460) }
    ]
    const slugs = [{ image: "Windows", slug: "C3-4-Windows" }]
    setPrices([{ account: "a", plan: "C3.8GB", ...price(null), prices, slugs, foreignPrice: null }])
    const of = (plan: string, image: string | null) => priceOf({ account: "a", plan, image })
    expect([of("C3.8GB", null), of("C3.8GB", "Windows"), of("C3-4-Windows", null)]).toEqual([
      { atLeast: 730, isExact: false },
      { atLeast: 1460, isExact: true },
      { atLeast: 1460, isExact: true }
    ])
  })

  it("keeps no change of an event that it has forgotten, and no node that is gone", () => {
    setEvents([])
    for (let index = 1; index <= 3000; index++) {
      takeEvent(changed(2 * index - 1, index, null, "running"))
      takeEvent(changed(2 * index, index, "running", null))
    }
    expect([model.events.length, model.changes.size, model.nodes.size]).toEqual([1000, 500, 0])
  })

  it("leaves the time before the events blank in a history, and shows no change twice", () => {
    setEvents([{ event: changed(10, 7, "running", "power-off") }])
    takeEvent(changed(10, 7, "running", "power-off"))
    takeEvent(changed(20, 7, "power-off", "running"))
    const node = model.nodes.get("default/7")
    expect(historyOf(node, pastOf(node), millisOf(0), millisOf(30))).toEqual([
      { status: "power-off", fromMillis: millisOf(10), toMillis: millisOf(20) },
      { status: "running", fromMillis: millisOf(20), toMillis: millisOf(30) }
    ])
  })

  it("says of when the nodes are that nobody can read, and since when a daemon is silent", () => {
    const account = (name: string, sweptMinute: number | null) => ({
      account: name,
      lastSweep: sweptMinute === null ? null : { endedAt: new Date(millisOf(sweptMinute)).toISOString() }
    })
    const trouble = (name: string, about: string | null, minute: number) => ({
      name,
      about: { kind: about === null ? "daemon" : "account", name: about },
      since: new Date(millisOf(minute)).toISOString()
    })
    const accounts = [account("a", 10), account("b", 58), account("c", null)]
    const stale = (troubles: ReadonlyArray<object>, lostMillis?: number) =>
      Object.fromEntries(
        staleAccounts({ accounts, troubles, startedAt: new Date(millisOf(5)).toISOString() }, lostMillis)
      )
    const asOf = (minute: number) => ({ atMillis: millisOf(minute), isBefore: false })
    const c = { atMillis: millisOf(5), isBefore: true }
    expect(stale([])).toEqual({ c })
    expect(stale([trouble("allowance-low", "b", 20), trouble("account-refused", "a", 12)])).toEqual({ a: asOf(10), c })
    expect(stale([trouble("other-account", "b", 20)])).toEqual({ b: asOf(20), c })
    expect(stale([trouble("store-failing", null, 50)])).toEqual({ a: asOf(10), b: asOf(50), c })
    expect(stale([], millisOf(59))).toEqual({ a: asOf(59), b: asOf(59), c })
  })

  it("begins histories at the first thing that is known of any node, and never before the time that is asked for", () => {
    const node = { createdMillis: millisOf(0), sinceMillis: millisOf(30) }
    const nodes = [node, { createdMillis: millisOf(0), sinceMillis: millisOf(40) }]
    const begin = (spanMinutes: number, toMinute: number, known: ReadonlyArray<object> = nodes) =>
      (historyBegin(known, spanMinutes * 60_000, millisOf(toMinute)) - millisOf(0)) / 60_000
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
