import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { escapeControls, escapeControlsInLines } from "../../src/output/escapeControls.ts"
import { jsonBlock, jsonLine } from "../../src/output/json.ts"
import { controls } from "../berth.ts"

const anything = fc.string({ unit: "binary", maxLength: 50 })

describe("text from outside", () => {
  it("is written out where a terminal would obey it", () => {
    assert.strictEqual(
      escapeControls("a\u001b[2J\n\r\t\u009b\u202e\u200b日本"),
      "a\\x1b[2J\\n\\r\\t\\x9b\\u202e\u200b日本"
    )
    assert.strictEqual(escapeControlsInLines("a\nb\u0007"), "a\nb\\x07")
  })

  it("holds no control character afterwards", () => {
    fc.assert(fc.property(anything, (text) => assert.notMatch(escapeControls(text), controls)))
  })
})

describe("JSON", () => {
  it("says the same and holds no control character but its line feeds", () => {
    fc.assert(
      fc.property(fc.dictionary(anything, anything), (value) => {
        for (const text of [jsonLine(value), jsonBlock(value)]) {
          assert.notMatch(text, controls)
          assert.deepStrictEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
        }
      })
    )
  })
})
