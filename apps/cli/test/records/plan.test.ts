import type { ForeignPrice } from "@berthkit/core/domain/Image"
import { exactPrice } from "@berthkit/core/domain/Price"
import { assert, describe, it } from "@effect/vitest"
import { type Plan, planRecord } from "../../src/records/plan.ts"

const plan = (perHour: number | null, foreignPrice: ForeignPrice | null): Plan => ({
  plan: "P",
  vcpus: 4,
  memoryMib: 8192,
  diskGb: 100,
  series: "C3",
  ...exactPrice(perHour, null),
  minimumBillingInr: null,
  foreignPrice,
  committedOptions: [],
  images: ["I"],
  slugs: [{ image: "I", slug: "P", available: null }],
  available: null,
  prices: []
})

const cellOf = (record: Plan) =>
  planRecord
    .fields([record])
    .find(({ key }) => key === "pricePerHourInr")!
    .value(record, 0)

describe("the price column of a plan", () => {
  it("has rupees without a sign, which is in its title", () => assert.strictEqual(cellOf(plan(2.9, null)), "2.90"))

  it("has another currency with its own sign, or its code", () => {
    assert.strictEqual(cellOf(plan(null, { currency: "USD", perHour: 0.04, perMonth: null })), "$0.04")
    assert.strictEqual(cellOf(plan(null, { currency: "AED", perHour: 0.15, perMonth: null })), "AED 0.15")
    assert.strictEqual(cellOf(plan(null, { currency: "USD", perHour: null, perMonth: 29.2 })), "-")
  })
})
