import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import * as fc from "fast-check"
import { changesBetween, fitting, type Reading } from "../../src/nodes/changes.ts"
import { someNode } from "./someNode.ts"

const status = fc.constantFrom("created", "running", "power-off", "terminate") as fc.Arbitrary<Node["status"]>

const reading: fc.Arbitrary<Reading> = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 40 }), status), { selector: ([id]) => id })
  .map((nodes) => new Map(nodes.map(([id, status]) => [id as NodeId, { ...someNode(id), id: id as NodeId, status }])))

const at = DateTime.makeUnsafe(0)

describe("changes", () => {
  it("lead from one reading to the next, and there are none within one", () => {
    fc.assert(
      fc.property(reading, reading, (before, after) => {
        const statuses = new Map(Array.from(before.values(), ({ id, status }) => [id, status]))
        for (const { from, id, name, to } of changesBetween(before, after, at)) {
          assert.strictEqual(statuses.get(id) ?? null, from)
          assert.strictEqual(name, `node-${id}`)
          if (to === null) statuses.delete(id)
          else statuses.set(id, to)
        }
        assert.deepStrictEqual(
          Array.from(statuses).toSorted(),
          Array.from(after.values(), ({ id, status }) => [id, status] as [Node["id"], Node["status"]]).toSorted()
        )
        assert.isEmpty(changesBetween(after, after, at))
      })
    )
  })
})

describe("the nodes that fit on a screen", () => {
  it("are as many as there is room for, in their order, those that are changing first", () => {
    fc.assert(
      fc.property(reading, fc.integer({ min: 1, max: 30 }), (all, room) => {
        const nodes = Array.from(all.values())
        const shown = fitting(nodes, room)
        assert.lengthOf(shown, Math.min(room, nodes.length))
        assert.deepStrictEqual(
          shown,
          nodes.filter((node) => shown.includes(node))
        )
        const isChanging = ({ status }: Node) => status === "created" || status === "terminate"
        const hidden = nodes.filter((node) => !shown.includes(node))
        if (hidden.some(isChanging)) assert.isTrue(shown.every(isChanging))
      })
    )
  })
})
