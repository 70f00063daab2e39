import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { defaultLifecycle, goneAt, type LivingNode, phaseAt } from "../../src/lifecycle/NodeLife.ts"

const seed = 1
const lifecycle = { ...defaultLifecycle, provisioningMillis: 2_000, terminationMillis: 3_000 }
const node = (over: Partial<LivingNode> = {}): LivingNode => ({
  id: 1,
  name: "web",
  createdAt: 10_000,
  deletedAt: null,
  commitment: null,
  ...over
})
const phaseOf = (living: LivingNode, now: number) => phaseAt(seed, lifecycle, living, now)

describe("the life of a node (A11)", () => {
  it("is created until provisioning ends, and running from that instant", () => {
    expect([10_000, 11_999, 12_000, 10_000_000].map((now) => phaseOf(node(), now))).toEqual([
      "created",
      "created",
      "running",
      "running"
    ])
  })

  it("is terminate from the delete until termination ends, and gone from that instant", () => {
    const deleted = node({ deletedAt: 20_000 })
    expect([19_999, 20_000, 22_999, 23_000].map((now) => phaseOf(deleted, now))).toEqual([
      "running",
      "terminate",
      "terminate",
      "gone"
    ])
  })

  it("can be deleted before provisioning ends", () => {
    expect(phaseOf(node({ deletedAt: 10_500 }), 10_500)).toBe("terminate")
  })

  it("is gone at once where termination takes no time", () => {
    const instantly = { ...defaultLifecycle, provisioningMillis: 0, terminationMillis: 0 }
    expect(phaseAt(seed, instantly, node({ deletedAt: 20_000 }), 20_000)).toBe("gone")
  })

  it("ends with its commitment under auto_terminate, unless it was deleted before", () => {
    const commitment = {
      skuId: 1,
      days: 1,
      startedAt: 10_000,
      setting: "auto_terminate",
      nextSkuId: 1,
      nextDays: 1
    } as const
    const end = 10_000 + 86_400_000
    expect(phaseOf(node({ commitment }), end - 1)).toBe("running")
    expect(phaseOf(node({ commitment }), end)).toBe("terminate")
    expect(goneAt(seed, lifecycle, node({ commitment }))).toBe(end + 3_000)
    expect(goneAt(seed, lifecycle, node({ commitment, deletedAt: 20_000 }))).toBe(23_000)
  })

  it("never goes back to an earlier phase", () => {
    const order = ["created", "running", "terminate", "gone"]
    fc.assert(
      fc.property(
        fc.nat(100_000),
        fc.option(fc.nat(200_000)),
        fc.nat(5_000),
        fc.nat(5_000),
        fc.array(fc.nat(300_000), { minLength: 2 }),
        (createdAt, untilDelete, provisioningMillis, terminationMillis, instants) => {
          const living = node({ createdAt, deletedAt: untilDelete === null ? null : createdAt + untilDelete })
          const seen = instants
            .map((after) => createdAt + after)
            .sort((a, b) => a - b)
            .map((now) =>
              order.indexOf(phaseAt(seed, { ...defaultLifecycle, provisioningMillis, terminationMillis }, living, now))
            )
          expect(seen).toEqual([...seen].sort((a, b) => a - b))
        }
      )
    )
  })
})
