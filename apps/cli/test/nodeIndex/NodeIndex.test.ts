import { createHash } from "node:crypto"
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
        const maxPage = Math.min(names.length, perPage)
        assert.deepInclude(index, { completeTo: names.length, length: names.length, maxPage })
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

  const text = NodeIndex.encode(indexOfList(nodesNamed(["web", "db", "cache"]), 2))

  it("is nothing where another version wrote it", () => {
    for (const other of [{ version: 2, ids: [] }, [4, {}, []]]) {
      const body = JSON.stringify(other)
      const sum = createHash("sha256").update(body).digest("hex").slice(0, 32)
      assert.isTrue(Option.isNone(NodeIndex.decode(`${sum}\n${body}\n`)))
    }
  })

  it("that is no text of an index is nothing", () => {
    for (const other of ["", '{"version":2}', "\n", `${text.split("\n")[0]}\n`]) {
      assert.isTrue(Option.isNone(NodeIndex.decode(other)))
    }
  })
})

describe("the index of a list", () => {
  it("finds names only where ids ascend", () => {
    const nodes = Array.from({ length: 150 }, (_, i) => someNode(i + 1))
    assert.isTrue(NodeIndex.findsNames(indexOfList(nodes)))
    assert.isFalse(NodeIndex.findsNames(indexOfList(nodes.toReversed())))
    assert.isFalse(NodeIndex.findsNames(NodeIndex.withNodes(NodeIndex.empty, nodes.map(NodeIndex.indexed))))
  })

  it("finds names only where the account has more nodes than a page, and not many more are gone", () => {
    const nodes = Array.from({ length: 160 }, (_, i) => someNode(i + 1))
    assert.isFalse(NodeIndex.findsNames(indexOfList(nodes.slice(0, 100))))
    assert.isTrue(NodeIndex.findsNames(indexOfList(nodes.slice(0, 101))))
    const index = indexOfList(nodes)
    assert.isTrue(NodeIndex.findsNames({ ...index, length: 107 }))
    assert.isFalse(NodeIndex.findsNames({ ...index, length: 106 }))
  })

  it("takes a node for the same by its name and its time of creation", () => {
    const known = NodeIndex.indexed(someNode(7, "web"))
    assert.isTrue(NodeIndex.isSame(known, someNode(7, "web")))
    assert.isFalse(NodeIndex.isSame(known, someNode(7, "db")))
    assert.isFalse(NodeIndex.isSame(known, { ...someNode(7, "web"), createdAt: someNode(8).createdAt }))
  })
})
