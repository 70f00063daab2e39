/** The probe orders the cheapest node that it may order, named by the slug that a create needs. */
import { Images } from "@berthkit/core/client/Images"
import { layer, ok } from "@berthkit/core/testing"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { cheapest } from "../src/probeNode.ts"

const image = "Ubuntu-24.04-Distro"

const record = (plan: string, specs: object, other: object = {}) => ({
  name: `SKU.${plan}`,
  plan,
  image,
  os: { name: "Ubuntu", version: "24.04", image, category: "Ubuntu" },
  specs: {
    sku_name: `SKU.${plan}`,
    ram: "8.00",
    cpu: 4,
    disk_space: 100,
    price_per_hour: 2,
    minimum_billing_amount: 1,
    ...specs
  },
  currency: "INR",
  available_inventory_status: true,
  ...other
})

/** What the probe orders from a service with these records in its image list. */
const orderOf = (...records: ReadonlyArray<object>) =>
  Effect.runPromise(
    Images.use((images) => Effect.map(images.list(), cheapest)).pipe(Effect.provide(layer(() => ok(records))))
  )

describe("the node that the probe orders", () => {
  it("is the cheapest, named by its slug", async () => {
    const order = await orderOf(record("dear", { price_per_hour: 3 }), record("slug-of-it", {}), record("same", {}))
    expect(order).toEqual({ plan: "slug-of-it", image, perHourInr: 2, cost: 2 })
  })

  it("costs at least the minimum billing", async () => {
    const order = await orderOf(
      record("minimum", { price_per_hour: 1, minimum_billing_amount: 9 }),
      record("other", {})
    )
    expect(order?.plan).toBe("other")
  })

  it.each<readonly [string, object]>([
    ["is sold out", record("cheap", { price_per_hour: 1 }, { available_inventory_status: false })],
    ["has no disk of its own", record("cheap", { price_per_hour: 1, disk_space: 0 })],
    ["has its price in dollars", record("cheap", { price_per_hour: 1 }, { currency: "USD" })],
    ["has its price in dollars, as its specs say", record("cheap", { price_per_hour: 1, currency: "USD" })],
    ["has no stated minimum", record("cheap", { price_per_hour: 1, minimum_billing_amount: null })]
  ])("is never on a plan that %s", async (_what, cheap) => {
    expect(await orderOf(cheap)).toBeUndefined()
    expect((await orderOf(cheap, record("other", {})))?.plan).toBe("other")
  })
})
