import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { call, dataOf, errorsOf, nodeOf } from "./service.ts"

layer(TestServer.layer())("images over HTTP", (it) => {
  it.effect("an image has the fields of interface.md §2.6, with a commitment's end as a date of the world", () =>
    Effect.gen(function* () {
      const images = dataOf(
        yield* call("GET", "/images/", { query: { os: "ubuntu", version: "24.04", cpu: 4, ram: 16 } })
      )
      expect(images.length).toBe(1)
      expect(images[0]).toEqual({
        name: "Ubuntu 24.04",
        plan: "C-4VCPU-16RAM-100DISK",
        image: "Ubuntu-24.04",
        os: { name: "Ubuntu", version: "24.04", image: expect.stringMatching(/^\d+$/) },
        zone: { slug_name: "ncr" },
        specs: {
          ram: "16.00",
          cpu: 4,
          disk_space: 100,
          price_per_month: expect.stringMatching(/^\d+\.\d\d$/),
          price_per_hour: expect.stringMatching(/^\d+\.\d\d$/),
          series: "C",
          minimum_billing_amount: expect.stringMatching(/^\d+\.\d\d$/),
          committed_sku: expect.any(Array)
        }
      })
      expect(images[0].specs.committed_sku.map((sku: any) => [sku.committed_days, sku.committed_upto_date])).toEqual([
        [30, "31-January-2026 00:00"],
        [90, "01-April-2026 00:00"],
        [365, "01-January-2027 00:00"]
      ])
      const byId = yield* call("POST", "/nodes/", { body: { ...nodeOf("x"), image: Number(images[0].os.image) } })
      dataOf(byId, 202)
    })
  )

  it.effect("image filters of the wrong type are 400, an unknown type of image is 422, empty ones are none", () =>
    Effect.gen(function* () {
      expect(
        Object.keys(errorsOf(yield* call("GET", "/images/", { query: { cpu: "x", ram: "y" } }), 400)).sort()
      ).toEqual(["cpu", "ram"])
      expect(Object.keys(errorsOf(yield* call("GET", "/images/", { query: { image_type: "secret" } }), 422))).toEqual([
        "image_type"
      ])
      const all = dataOf(yield* call("GET", "/images/"))
      const query = { cpu: "", ram: "", series: "", os: "", version: "", image_type: "", project_id: 1, location: "x" }
      expect(dataOf(yield* call("GET", "/images/", { query }))).toEqual(all)
    })
  )
})
