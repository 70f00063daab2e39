import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as PageOfId from "../../src/nodeIndex/PageOfId.ts"
import { pageOf, someNode } from "./someNode.ts"

const find = (
  list: ReadonlyArray<Node>,
  id: number,
  cap = 100
): { readonly id: number | undefined; readonly requests: number } => {
  let step = PageOfId.begin(id as NodeId)
  let requests = 0
  for (; step._tag === "Read"; requests++) {
    step = PageOfId.take(step.state, step.page, pageOf(list, step.page, 100, cap))
  }
  return { id: step._tag === "Found" ? step.node.id : undefined, requests }
}

describe("the page of an id", () => {
  it("is found in at most 8 requests among 10 000 nodes whose ids are a few apart", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.integer({ min: 1, max: 9 }),
        fc.double({ noNaN: true, min: 0, max: 0.999 }),
        (count, gap, at) => {
          // Every third gap is wider: deleted nodes leave uneven ids.
          const list = Array.from({ length: count }, (_, i) => someNode(90_000 + i * gap + Math.floor(i / 3)))
          const wanted = list[Math.floor(at * count)]!
          const { id, requests } = find(list, wanted.id)
          assert.strictEqual(id, wanted.id)
          assert.isAtMost(requests, 8)
        }
      ),
      { numRuns: 300 }
    )
  })

  it("is given up after 8 requests, for any ids and any pages, and never is that of another node", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1, max: 1_000_000 }), { maxLength: 2000 }),
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.integer({ min: 1, max: 100 }),
        (ids, wanted, cap) => {
          const list = ids.toSorted((a, b) => a - b).map((id) => someNode(id))
          const { id, requests } = find(list, wanted, cap)
          assert.isAtMost(requests, 8)
          if (id !== undefined) assert.strictEqual(id, wanted)
          if (!ids.includes(wanted)) assert.isUndefined(id)
        }
      )
    )
  })

  it("takes one request in a small account", () => {
    const list = Array.from({ length: 30 }, (_, i) => someNode(i + 1))
    assert.deepStrictEqual(find(list, 7), { id: 7, requests: 1 })
  })

  it("is given up behind the last page, and soon far beyond it", () => {
    const list = Array.from({ length: 250 }, (_, i) => someNode(i + 1))
    assert.deepStrictEqual(find(list, 260), { id: undefined, requests: 2 })
    assert.deepStrictEqual(find(list, 999), { id: undefined, requests: 7 })
  })

  it("is given up at once where the id is between those of a page, or ids do not ascend", () => {
    const list = Array.from({ length: 300 }, (_, i) => someNode(2 * i + 2))
    assert.deepStrictEqual(find(list, 7), { id: undefined, requests: 1 })
    assert.deepStrictEqual(find(list.toReversed(), 999), { id: undefined, requests: 1 })
  })
})
