import { type Node, NodeId } from "@berthkit/core/domain/Node"
import type { Image } from "@berthkit/core/domain/Image"
import { priceList } from "@berthkit/core/domain/Price"
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import * as fc from "fast-check"
import { created, set } from "../../src/commitmentLog/CommitmentLog.ts"
import { costs as costsOf, type Grouping, groupings, type Pricing } from "../../src/commands/cost/sum.ts"

const node = (id: number, plan: string, status: Node["status"], image: string | null = null): Node => ({
  id: NodeId.make(id),
  name: `node-${id}`,
  status,
  createdAt: DateTime.makeUnsafe(0),
  vcpus: null,
  memoryMib: null,
  diskGb: null,
  publicIp: null,
  privateIp: null,
  plan,
  image,
  region: null,
  backups: null,
  locked: null,
  committed: null,
  tags: [],
  extra: {}
})
const offer = (plan: string, pricePerHourInr: number | null, image = "linux"): Image => ({
  name: image,
  image,
  plan,
  os: { name: image, version: null, image: null },
  zone: null,
  sku: null,
  available: null,
  specs: {
    vcpus: null,
    memoryMib: null,
    diskGb: null,
    series: null,
    pricePerHourInr,
    pricePerMonthInr: pricePerHourInr === null ? null : pricePerHourInr * 730,
    minimumBillingInr: null,
    foreignPrice: null,
    committedOptions: []
  },
  extra: {}
})
const offers = [offer("small", 0.1), offer("large", 0.2), offer("unpriced", null)]
const pricingOf = (images: ReadonlyArray<Image>, own: Pricing["own"] = new Map()): Pricing => ({
  prices: priceList(images),
  own,
  nowMillis: 1000
})
const prices = pricingOf(offers)
const costs = (nodes: ReadonlyArray<Node>, pricing: Pricing, by: Grouping) =>
  costsOf({ nodes, unreadable: [] }, pricing, by)

describe("the cost of nodes", () => {
  it("is that of their plans, also of nodes that are off, and not of those that are ending", () => {
    const nodes = [node(1, "small", "running"), node(2, "large", "power-off"), node(3, "large", "terminate")]
    const { rows, total } = costs(nodes, prices, "node")
    assert.deepStrictEqual(
      rows.map(({ id, pricePerHourInr }) => [id, pricePerHourInr]),
      [
        [1, 0.1],
        [2, 0.2]
      ]
    )
    assert.deepInclude(total, { nodes: 2, pricePerHourInr: 0.3, offAndBilled: 1, withoutPrice: 0 })
  })

  it("of a plan without a price is not known, and is counted", () => {
    const { rows, total } = costs([node(1, "unpriced", "running"), node(2, "gone", "running")], prices, "status")
    assert.deepInclude(rows[0], { name: "running", id: null, pricePerHourInr: null, withoutPrice: 2 })
    assert.deepInclude(total, { pricePerHourInr: null, withoutPrice: 2 })
  })

  it("with an unknown price costs at least as much as the others", () => {
    const { rows, total } = costs([node(1, "small", "running"), node(2, "unpriced", "running")], prices, "node")
    assert.deepInclude(rows[1], { pricePerHourInr: null, minPricePerHourInr: null })
    assert.deepInclude(total, {
      pricePerHourInr: null,
      minPricePerHourInr: 0.1,
      maxPricePerHourInr: null,
      withoutPrice: 1
    })
  })

  it("is that of plan and image; of an unknown image it lies between those of the plan", () => {
    const twoPrices = pricingOf([
      offer("p", 6.46),
      offer("p", 20.5, "windows"),
      offer("q", 1),
      offer("q", 1, "windows")
    ])
    const nodes = [node(1, "p", "running", "windows"), node(2, "p", "running"), node(3, "q", "running")]
    const { rows, total } = costs([...nodes, node(4, "q", "running", "an image no longer listed")], twoPrices, "node")
    assert.deepStrictEqual(
      rows.map((row) => [row.pricePerHourInr, row.minPricePerHourInr, row.maxPricePerHourInr]),
      [
        [20.5, 20.5, 20.5],
        [null, 6.46, 20.5],
        [1, 1, 1],
        [1, 1, 1]
      ]
    )
    assert.deepInclude(total, { pricePerHourInr: null, minPricePerHourInr: 28.96, maxPricePerHourInr: 43 })
  })

  it("is that of the committed period while one that berth itself began runs, and says until when", () => {
    const option = { skuId: 7, name: "", days: 30, priceInr: 36, foreignPrice: null, message: "", until: "" }
    const running = created(1, option, 0)
    const renamed = set(running, 1, "auto_renew", { skuId: 8, days: 90, priceInr: 90 }, 500)
    const ended = { ...created(2, option, 0), untilMillis: 1000 }
    const unknownBegin = set(undefined, 3, "auto_renew", { skuId: 7, days: 30, priceInr: 36 }, 500)
    const own = new Map([renamed, ended, unknownBegin].map((entry) => [entry.id, entry]))
    const nodes = [1, 2, 3].map((id) => node(id, "small", "running"))
    const { rows, total } = costs(nodes, pricingOf(offers, own), "node")
    assert.deepStrictEqual(
      rows.map(({ committedUntil, pricePerHourInr, pricePerMonthInr }) => [
        pricePerHourInr,
        pricePerMonthInr,
        committedUntil?.epochMilliseconds ?? null
      ]),
      [
        [0.05, 36.5, 30 * 86_400_000],
        [0.1, 73, null],
        [0.1, 73, null]
      ]
    )
    assert.deepInclude(total, { committed: 1, pricePerHourInr: 0.25 })
  })

  it("adds up however the nodes are grouped", () => {
    const status = fc.constantFrom("running", "power-off", "created", "terminate", { unknown: "odd" })
    const nodes = fc.array(fc.record({ plan: fc.constantFrom("small", "large", "unpriced"), status }))
    fc.assert(
      fc.property(nodes, (given) => {
        const all = given.map(({ plan, status }, index) => node(index + 1, plan, status as Node["status"]))
        for (const by of groupings) {
          const { rows, total } = costs(all, prices, by)
          type Key = "minPricePerHourInr" | "minPricePerMonthInr" | "nodes" | "offAndBilled" | "withoutPrice"
          const sumOf = (key: Key) => rows.reduce((sum, row) => sum + (row[key] ?? 0), 0)
          for (const key of ["minPricePerHourInr", "minPricePerMonthInr"] as const) {
            assert.closeTo(sumOf(key), total[key] ?? 0, 1e-6)
          }
          for (const key of ["pricePerHourInr", "pricePerMonthInr"] as const) {
            const billed = all.filter(({ status }) => status !== "terminate")
            const lowest = key === "pricePerHourInr" ? "minPricePerHourInr" : "minPricePerMonthInr"
            const priceOf = (name: string | null) => offers.find((each) => each.plan === name)?.specs[key] ?? 0
            if (total.withoutPrice === 0) assert.strictEqual(total[key], total[lowest])
            else assert.isNull(total[key])
            assert.closeTo(
              total[lowest] ?? 0,
              billed.reduce((sum, { plan }) => sum + priceOf(plan), 0),
              1e-6
            )
          }
          for (const key of ["nodes", "offAndBilled", "withoutPrice"] as const) {
            assert.strictEqual(sumOf(key), total[key])
          }
        }
      })
    )
  })

  it("adds the prices of each currency by itself, and never to those of another", () => {
    const currencies = ["INR", "USD", "EUR"] as const
    const priced = fc.record({ currency: fc.constantFrom(...currencies), paise: fc.integer({ min: 1, max: 100_000 }) })
    const offerIn = (plan: string, currency: string, amount: number): Image => {
      const inRupees = offer(plan, amount)
      const foreignPrice = { currency, perHour: amount, perMonth: amount * 730 }
      return currency === "INR"
        ? inRupees
        : { ...inRupees, specs: { ...inRupees.specs, pricePerHourInr: null, pricePerMonthInr: null, foreignPrice } }
    }
    fc.assert(
      fc.property(fc.array(priced, { minLength: 1, maxLength: 12 }), (all) => {
        const images = all.map(({ currency, paise }, at) => offerIn(`plan-${at}`, currency, paise / 100))
        const nodes = all.map((_, at) => node(at + 1, `plan-${at}`, "running"))
        const paiseIn = (wanted: string) =>
          all.reduce((sum, { currency, paise }) => (currency === wanted ? sum + paise : sum), 0)
        for (const by of groupings) {
          const { rows, total } = costs(nodes, pricingOf(images), by)
          const isInRupees = all.every(({ currency }) => currency === "INR")
          assert.strictEqual(Math.round((total.minPricePerHourInr ?? 0) * 100), paiseIn("INR"))
          if (isInRupees) assert.strictEqual(total.pricePerHourInr, total.minPricePerHourInr)
          else assert.deepStrictEqual([total.pricePerHourInr, total.maxPricePerHourInr], [null, null])
          for (const each of [...rows, total]) {
            assert.notInclude(
              each.foreign.map(({ currency }) => currency),
              "INR"
            )
          }
          for (const currency of ["USD", "EUR"]) {
            const sums = total.foreign.filter((each) => each.currency === currency)
            assert.strictEqual(Math.round(100 * (sums[0]?.perHour ?? 0)), paiseIn(currency))
            assert.isAtMost(sums.length, 1)
          }
        }
      })
    )
  })
})
