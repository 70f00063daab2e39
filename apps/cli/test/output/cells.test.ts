/** Checks that the CLI counts the cells of a string like Effect, whose function it does not load. */
import { CliOutput } from "effect/cli"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { width } from "../../src/output/cells.ts"

const samples = [
  "web-1",
  "₹155.04 – 2 h…",
  "ファイル",
  "e\u0301",
  "1\ufe0f\u20e3",
  "👩‍👩‍👧",
  "🇮🇳",
  "नमस्ते",
  "\u001b[1mbold\u001b[0m",
  "a\tb"
]

const letters = fc.oneof(
  fc.constantFrom(...samples, "\u200d", "\ufe0f", "\u0301", "\u001b[31m"),
  fc.string({ unit: "binary", maxLength: 3 }),
  fc.string({ unit: "grapheme", maxLength: 3 }),
  fc.integer({ min: 0xa0, max: 0x30ff }).map((code) => String.fromCodePoint(code))
)

it("takes as many cells as Effect says", () => {
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 8 }), (parts) => {
      const text = parts.join("")
      expect(width(text)).toBe(CliOutput.displayWidth(text))
    }),
    { numRuns: 10_000 }
  )
})

it("takes a cell for each character that no segmenter is asked about", () => {
  const texts = Array.from({ length: 0x20c0 }, (_, code) => `a${String.fromCodePoint(code)}b`)
  expect(texts.filter((text) => width(text) !== CliOutput.displayWidth(text))).toEqual([])
})
