import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { jsonBlock, jsonLine } from "../../src/output/json.ts"

/** Any control character except the line feed. */
const controls = /[^\P{Cc}\n]/u

const anything = fc.string({ unit: "binary", maxLength: 50 })

const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth))

describe("JSON", () => {
  it("keeps its value and holds no control character but its line feeds", () => {
    fc.assert(
      fc.property(fc.dictionary(anything, anything), (value) => {
        for (const text of [jsonLine(value), jsonBlock(value)]) {
          assert.notMatch(text, controls)
          assert.deepStrictEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
        }
      })
    )
  })

  it("escapes what it allows and a terminal would obey", () => {
    for (const text of [jsonLine("\u009b\u202e"), jsonBlock("\u009b\u202e")]) {
      assert.strictEqual(text, String.raw`"\u009b\u202e"`)
    }
  })

  it("for reading is indented", () => assert.strictEqual(jsonBlock({ a: [1] }), '{\n  "a": [\n    1\n  ]\n}'))

  it("for reading is on one line when it is nested too deep to be read", () => {
    const depth = 20_000
    assert.strictEqual(jsonBlock({ extra: nested(depth) }), `{"extra":${"[".repeat(depth)}${"]".repeat(depth)}}`)
  })
})
