import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import * as fc from "fast-check"
import * as NodeIndex from "../../src/nodeIndex/NodeIndex.ts"
import { someNode } from "./someNode.ts"

const name = fc.string({ unit: "binary", maxLength: 20 })

describe("the text of an index", () => {
  it("holds the index, whatever the names are", () => {
    fc.assert(
      fc.property(fc.array(name), (names) => {
        const index = NodeIndex.ofList(
          names.map((each, i) => NodeIndex.indexed(someNode(i + 1, each))),
          100
        )
        assert.deepStrictEqual(NodeIndex.decode(NodeIndex.encode(index)), Option.some(index))
      })
    )
  })

  it("is nothing once a character of it is changed or its end is lost", () => {
    const names = ["web", "db", "cache"]
    const text = NodeIndex.encode(
      NodeIndex.ofList(
        names.map((each, i) => NodeIndex.indexed(someNode(i + 1, each))),
        100
      )
    ).trimEnd()
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
        fc.pre(text[at] !== character)
        assert.isTrue(Option.isNone(NodeIndex.decode(text.slice(0, at) + character + text.slice(at + 1))))
        assert.isTrue(Option.isNone(NodeIndex.decode(text.slice(0, at))))
      })
    )
  })

  it("of another version is nothing", () => {
    assert.isTrue(Option.isNone(NodeIndex.decode("")))
    assert.isTrue(Option.isNone(NodeIndex.decode('{"version":2}')))
  })
})

describe("the index of a list", () => {
  it("finds names only where ids ascend", () => {
    const nodes = Array.from({ length: 150 }, (_, i) => NodeIndex.indexed(someNode(i + 1)))
    assert.isTrue(NodeIndex.findsNames(NodeIndex.ofList(nodes, 100)))
    assert.isFalse(NodeIndex.findsNames(NodeIndex.ofList(nodes.toReversed(), 100)))
    assert.isFalse(NodeIndex.findsNames(NodeIndex.withNodes(NodeIndex.empty, nodes)))
  })
})
