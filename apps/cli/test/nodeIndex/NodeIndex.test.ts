import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import * as fc from "fast-check"
import * as NodeIndex from "../../src/nodeIndex/NodeIndex.ts"
import { indexOfList, someNode } from "./someNode.ts"

const name = fc.string({ unit: "binary", maxLength: 20 })

const nodesNamed = (names: ReadonlyArray<string>) => names.map((each, i) => someNode(i + 1, each))

describe("the text of an index", () => {
  it("holds the index, whatever the names are, and however long the pages were", () => {
    fc.assert(
      fc.property(fc.array(name), fc.integer({ min: 1, max: 9 }), (names, perPage) => {
        const index = indexOfList(nodesNamed(names), perPage)
        assert.deepStrictEqual(
          Array.from(index.nodes.values()),
          nodesNamed(names).map((node) => NodeIndex.indexed(node))
        )
        assert.deepInclude(index, { completeTo: names.length, length: names.length })
        assert.deepStrictEqual(NodeIndex.decode(NodeIndex.encode(index)), Option.some(index))
      })
    )
  })

  it("is nothing once a character of it is changed or its end is lost", () => {
    const text = NodeIndex.encode(indexOfList(nodesNamed(["web", "db", "cache"]), 2)).trimEnd()
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
        fc.pre(text[at] !== character)
        // White space at the end is no part of it.
        fc.pre(at < text.length - 1 || character.trim() !== "")
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
    const nodes = Array.from({ length: 150 }, (_, i) => someNode(i + 1))
    assert.isTrue(NodeIndex.findsNames(indexOfList(nodes)))
    assert.isFalse(NodeIndex.findsNames(indexOfList(nodes.toReversed())))
    assert.isFalse(NodeIndex.findsNames(NodeIndex.withNodes(NodeIndex.empty, nodes.map(NodeIndex.indexed))))
  })
})
