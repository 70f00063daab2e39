import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { parse } from "yaml"
import { yamlText } from "../../src/output/yaml.ts"

/** Any control character except the line feed. */
const controls = /[^\P{Cc}\n]|[\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u

const anything = fc.string({ unit: "binary", maxLength: 30 }).map((text) => text.toWellFormed())

/** Names that some YAML reader does not read as a string. */
const lookalikes = [
  "y n Y N yes no Yes NO on off On OFF true false True FALSE null Null NULL ~ nan inf",
  "0 -0 +1 1_000 1,000 012 0o7 0x1F 0b1 0b_ 0_ 1e3 1e+3 1.5e3 685.230_15e+03 1. .5 +.5 . .. e7 E10 .inf -.Inf +.INF .nan .NaN",
  "12:30:45 1:2 190:20:30.15 1.5:3 2026-01-01 2026-1-1 2001-12-14t21:59:43.10-05:00",
  "= << - -- --- ... ? : :a a: a:b ! !a !!int & &a * *a | > % @ ` , [ ] { } [] {} ' '' # a#b #a"
]
  .flatMap((line) => line.split(" "))
  .concat(
    "",
    " ",
    " a",
    "a ",
    "a: b",
    "a #b",
    "- a",
    "? a",
    "2026-01-01 10:11:12",
    "1 000",
    "'a'",
    '"a"',
    "a\nb",
    "a\tb",
    "\t",
    "\uffff"
  )

/** Strings that consist of the characters of such names. */
const alike = fc.string({ unit: fc.constantFrom(..."yesnofYES0123789:.-+_e~=<>xb #!TZ"), maxLength: 12 })

describe.each(["1.1", "1.2"] as const)("a reader of YAML %s", (version) => {
  const read = (value: unknown): unknown => parse(yamlText(value), { version, merge: version === "1.1" })

  it.each(lookalikes)("reads the name %j as it is, and as a key", (name) => {
    assert.deepStrictEqual(read([{ name, list: [name] }]), [{ name, list: [name] }])
    assert.deepStrictEqual(read({ [name]: 1 }), { [name]: 1 })
  })

  it("reads any such text as it is", () => {
    fc.assert(
      fc.property(alike, (text) =>
        assert.deepStrictEqual(read({ name: text, values: [text] }), { name: text, values: [text] })
      )
    )
  })

  it("reads what is no text as it is, too", () => {
    const value = { id: 7, price: -1.5, large: 1e21, small: 1e-7, yes: true, none: null, list: [], record: {} }
    assert.deepStrictEqual(read(value), value)
  })
})

describe("YAML", () => {
  it("has no quotes where none are needed", () => {
    assert.strictEqual(
      yamlText({ name: "web-1", path: "/nodes/", image: "Ubuntu-22.04" }),
      "name: web-1\npath: /nodes/\nimage: Ubuntu-22.04\n"
    )
  })

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
