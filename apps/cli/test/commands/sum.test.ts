import { type Node, NodeId } from "@berth/core/domain/Node"
import type { Plan } from "@berth/core/domain/Plan"
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import * as fc from "fast-check"
import { costs, groupings } from "../../src/commands/cost/sum.ts"

const node = (id: number, plan: string, status: Node["status"]): Node => ({
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
  image: null,
  region: null,
  backups: null,
  locked: null,
  tags: [],
  extra: {}
})
const plan = (name: string, pricePerHourInr: number | null): Plan => ({
  plan: name,
  vcpus: null,
  memoryMib: null,
  diskGb: null,
  series: null,
  pricePerHourInr,
  pricePerMonthInr: pricePerHourInr === null ? null : pricePerHourInr * 730,
  minimumBillingInr: null,
  committedOptions: [],
  images: []
})
const plans = [plan("small", 0.1), plan("large", 0.2), plan("unpriced", null)]

describe("the cost of nodes", () => {
  it("is that of their plans, also of nodes that are off, and not of those that are ending", () => {
    const nodes = [node(1, "small", "running"), node(2, "large", "power-off"), node(3, "large", "terminate")]
    const { rows, total } = costs(nodes, plans, "node")
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
    const { rows, total } = costs([node(1, "unpriced", "running"), node(2, "gone", "running")], plans, "status")
    assert.deepInclude(rows[0], { name: "running", id: null, pricePerHourInr: null, withoutPrice: 2 })
    assert.deepInclude(total, { pricePerHourInr: null, withoutPrice: 2 })
  })

  it("adds up however the nodes are grouped", () => {
    const status = fc.constantFrom("running", "power-off", "created", "terminate", { unknown: "odd" })
    const nodes = fc.array(fc.record({ plan: fc.constantFrom("small", "large", "unpriced"), status }))
    fc.assert(
      fc.property(nodes, (given) => {
        const all = given.map(({ plan, status }, index) => node(index + 1, plan, status as Node["status"]))
        for (const by of groupings) {
          const { rows, total } = costs(all, plans, by)
          const sumOf = (key: "pricePerHourInr" | "pricePerMonthInr" | "nodes" | "offAndBilled" | "withoutPrice") =>
            rows.reduce((sum, row) => sum + (row[key] ?? 0), 0)
          for (const key of ["pricePerHourInr", "pricePerMonthInr"] as const) {
            assert.closeTo(sumOf(key), total[key] ?? 0, 1e-6)
            const billed = all.filter(({ status }) => status !== "terminate")
            const priceOf = (name: string | null) => plans.find((each) => each.plan === name)?.[key] ?? 0
            assert.closeTo(
              total[key] ?? 0,
              billed.reduce((sum, { plan }) => sum + priceOf(plan), 0),
              1e-3
            )
          }
          for (const key of ["nodes", "offAndBilled", "withoutPrice"] as const) {
            assert.strictEqual(sumOf(key), total[key])
          }
        }
      })
    )
  })
})
