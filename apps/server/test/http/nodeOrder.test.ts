import { assert, describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import { readNodeOrder } from "../../src/http/nodes.ts"
import { populate } from "../../src/world/scenario.ts"
import * as World from "../../src/world/World.ts"
import { defaults } from "../../src/world/WorldSettings.ts"

const world = World.make({ ...defaults, clock: "frozen" }, 0)
populate(world, "small")
const plan = world.catalogue.planBySlug.get("C-4VCPU-16RAM-100DISK")!
const image = world.catalogue.imageBySlug.get("Ubuntu-24.04")!
const [saved] = world.savedImages
const good = { name: "web", region: "ncr", plan: plan.slug, image: image.slug }

const errorsOf = (body: unknown): Readonly<Record<string, ReadonlyArray<string>>> => {
  const order = readNodeOrder(world, body)
  return Result.isSuccess(order) ? {} : order.failure.problems
}
const faults = (over: object) => Object.keys(errorsOf({ ...good, ...over })).sort()

describe("the body of a create (A14)", () => {
  it("becomes an order, with the image by slug or by id", () => {
    for (const wanted of [image.slug, image.id]) {
      expect(readNodeOrder(world, { ...good, image: wanted })).toEqual(
        Result.succeed({ name: "web", plan, imageId: image.id, backups: false, skuId: null })
      )
    }
  })

  it("is wrong in every field at once, wrong types and impossible values together", () => {
    const body = { name: " ", region: "mars", plan: 5, image: "none", backups: "yes", tags: [1], cn_id: "x", label: 1 }
    expect(Object.keys(errorsOf(body)).sort()).toEqual(
      ["name", "region", "plan", "image", "backups", "tags", "cn_id", "label"].sort()
    )
  })

  it("is refused in milliseconds where half a million values are wrong", () => {
    const tags = Array.from({ length: 500_000 }, () => 0)
    const { user: before } = process.cpuUsage()
    expect(errorsOf({ ...good, tags })).toEqual({ tags: ["Expected a string."] })
    // Naming each of them would take about 700 ms.
    expect(process.cpuUsage().user - before).toBeLessThan(100_000)
  })

  it("names each missing field, and the whole body when it is no object", () => {
    expect(Object.keys(errorsOf({})).sort()).toEqual(["image", "name", "plan", "region"])
    for (const body of [[], "x", 1, null, true]) {
      expect(errorsOf(body)).toEqual({ detail: ["The body must be a JSON object."] })
    }
  })

  it("has a name that is not blank and of at most 255 characters, whatever their size in bytes", () => {
    expect(faults({ name: "" })).toEqual(["name"])
    expect(faults({ name: "\t " })).toEqual(["name"])
    expect(faults({ name: "n".repeat(256) })).toEqual(["name"])
    expect(faults({ name: "n".repeat(255) })).toEqual([])
    expect(faults({ name: "🚢".repeat(255) })).toEqual([])
  })

  it("has a plan of the documented shape that exists; the sentence names the one that is wrong", () => {
    expect(errorsOf({ ...good, plan: "huge" })["plan"]![0]).toContain("has the shape")
    expect(errorsOf({ ...good, plan: "C-3VCPU-16RAM-100DISK" })["plan"]![0]).toContain("no such plan")
  })

  it("has an image that goes with the plan", () => {
    expect(faults({ image: "WordPress-1CLICK" })).toEqual(["image"])
    expect(faults({ image: 12 })).toEqual(["image"])
    expect(faults({ image: "WordPress-1CLICK", plan: "C-4VCPU-8RAM-100DISK-1CLICK" })).toEqual([])
  })

  it("needs is_saved_image and the template id for a saved image", () => {
    const fits = { plan: saved!.plan.slug, image: saved!.id }
    expect(faults({ ...fits, is_saved_image: true, saved_image_template_id: saved!.templateId })).toEqual([])
    expect(
      faults({ ...fits, image: saved!.slug, is_saved_image: true, saved_image_template_id: saved!.templateId })
    ).toEqual([])
    expect(faults({ ...fits, is_saved_image: true })).toEqual(["saved_image_template_id"])
    expect(faults({ ...fits, is_saved_image: true, saved_image_template_id: 1 })).toEqual(["saved_image_template_id"])
    expect(faults(fits)).toEqual(["is_saved_image"])
    expect(faults({ is_saved_image: true, saved_image_template_id: 1 })).toEqual(["image"])
  })

  it("takes a committed plan of its own plan; 0, false and null mean none", () => {
    const [option] = plan.committed
    assert(option !== undefined)
    const order = readNodeOrder(world, { ...good, cn_id: option.skuId })
    expect(Result.getOrThrow(order).skuId).toBe(option.skuId)
    for (const cn_id of [0, false, null]) {
      expect(Result.getOrThrow(readNodeOrder(world, { ...good, cn_id })).skuId).toBeNull()
    }
    const other = world.catalogue.plans.find((candidate) => candidate !== plan && candidate.committed.length > 0)!
    expect(faults({ cn_id: other.committed[0]!.skuId })).toEqual(["cn_id"])
  })

  it("takes ssh keys as an array or one string, null for nothing, and unknown fields", () => {
    for (const over of [
      { ssh_keys: "ab:cd" },
      { ssh_keys: ["ab:cd", 12] },
      { ssh_keys: null, tags: null, backups: null, label: null, vpc_id: null, security_group_id: null },
      { project_id: 5, location: "x", anything: { at: "all" } }
    ]) {
      expect(faults(over)).toEqual([])
    }
  })

  it("survives any JSON there is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        expect(Result.isFailure(readNodeOrder(world, body))).toBe(true)
      })
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(good), "cn_id", "tags", "is_saved_image"),
        fc.jsonValue(),
        (key, value) => {
          expect(readNodeOrder(world, { ...good, [key]: value })).toBeDefined()
        }
      )
    )
  })
})
