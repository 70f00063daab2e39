import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { escapeControls, escapeControlsInLines } from "@berthkit/terminal/escapeControls"

// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/

describe("text from outside", () => {
  it("is written out where a terminal would obey it", () => {
    assert.strictEqual(escapeControls("a\u001b[2J\n\r\t\u009b\u202e日本"), "a\\x1b[2J\\n\\r\\t\\x9b\\u202e日本")
    assert.strictEqual(escapeControlsInLines("a\nb\u0007"), "a\nb\\x07")
  })

  it("is escaped if it is invisible, except joiners", () => {
    assert.strictEqual(escapeControls("d\u200bb\u2060\u00ad\u{e0041}"), "d\\u200bb\\u2060\\xad\\u{e0041}")
    assert.strictEqual(escapeControls("क्\u200dष 👩\u200d💻 ❤\ufe0f"), "क्\u200dष 👩\u200d💻 ❤\ufe0f")
  })

  it("holds no control character afterwards", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 50 }), (text) =>
        assert.notMatch(escapeControls(text), controls)
      )
    )
  })
})
