import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { parse } from "yaml"
import { yamlText } from "../../src/output/yaml.ts"

/** Any control character but the line feed. */
const controls = /[^\P{Cc}\n]|[\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u

const anything = fc.string({ unit: "binary", maxLength: 30 }).map((text) => text.toWellFormed())

describe("YAML", () => {
  it("keeps its value and holds nothing that a terminal would obey but its line feeds", () => {
    fc.assert(
      fc.property(fc.dictionary(anything, fc.oneof(anything, fc.array(anything))), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value))
        const text = yamlText(plain)
        assert.notMatch(text, controls)
        assert.deepStrictEqual(parse(text), plain)
      })
    )
  })

  it("writes a name with a line feed on one line", () => {
    assert.strictEqual(yamlText([{ name: "a\nb" }]), '- name: "a\\nb"\n')
  })

  it("of nothing is an empty list", () => assert.strictEqual(yamlText([]), "[]\n"))
})
