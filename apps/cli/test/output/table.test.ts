import { assert, describe, it } from "@effect/vitest"
import { cut, width } from "../../src/output/cells.ts"
import { type Field, titleOf } from "../../src/output/RecordDescriptor.ts"
import { card, table } from "../../src/output/table.ts"
import { nodeRecord } from "../../src/records/node.ts"
import * as fc from "fast-check"

interface Row {
  readonly name: string
  readonly size: number
  readonly note: string
}

const fields: ReadonlyArray<Field<Row>> = [
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 6 },
  { key: "size", title: "SIZE", value: ({ size }) => String(size), align: "right" },
  { key: "note", title: "NOTE", value: ({ note }) => note, dropOrder: 1 }
]
const rows: ReadonlyArray<Row> = [
  { name: "a-rather-long-name", size: 7, note: "first" },
  { name: "日本", size: 1024, note: "second" }
]
const plain = { available: Number.POSITIVE_INFINITY, colour: false }

describe("a table", () => {
  it("puts numbers flush right and ends no line with blanks", () => {
    assert.deepStrictEqual(table(fields, rows, plain), {
      text: [
        "NAME                SIZE  NOTE",
        "a-rather-long-name     7  first",
        "日本                1024  second",
        ""
      ].join("\n"),
      hidden: []
    })
  })

  it("cuts what may be cut before it leaves out a column", () => {
    const { hidden, text } = table(fields, rows, { available: 24, colour: false })
    assert.deepStrictEqual(hidden, [])
    assert.strictEqual(text.split("\n")[1], "a-rather-…     7  first")
    const narrow = table(fields, rows, { available: 12, colour: false })
    assert.deepStrictEqual(narrow.hidden, ["NOTE"])
    assert.strictEqual(narrow.text.split("\n")[1], "a-rat…     7")
  })

  it("leaves out columns in their order until the rest fits", () => {
    const ordered = fields.map((field, index) => ({ ...field, dropOrder: 3 - index }))
    assert.deepStrictEqual(table(ordered, rows, { available: 19, colour: false }).hidden, ["NOTE"])
    assert.deepStrictEqual(table(ordered, rows, { available: 11, colour: false }).hidden, ["NOTE", "SIZE"])
  })

  it("colours nothing but the text, and only when asked to", () => {
    const coloured: ReadonlyArray<Field<Row>> = [{ ...fields[0]!, style: () => "good" }, fields[1]!]
    const { text } = table(coloured, [rows[1]!], { available: 80, colour: true })
    assert.strictEqual(text.split("\n")[1], "\u001b[32m日本\u001b[0m  1024")
    assert.notInclude(table(coloured, rows, plain).text, "\u001b")
    const { text: blank } = table([fields[1]!, coloured[0]!], [{ name: "", size: 1, note: "" }], {
      available: 80,
      colour: true
    })
    assert.strictEqual(blank.split("\n")[1], "   1")
  })

  it("cuts texts further, and then leaves out columns from the right, on a terminal that is narrower still", () => {
    const narrow = table(fields, rows, { available: 10, colour: false })
    assert.strictEqual(narrow.text, "NAME  SIZE\na-r…     7\n日本  1024\n")
    const narrowest = table(fields, rows, { available: 9, colour: false })
    assert.strictEqual(narrowest.text, "NAME\na-rather…\n日本\n")
    assert.deepStrictEqual(narrowest.hidden, ["NOTE", "SIZE"])
  })

  it("is never wider than the terminal", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 40 })
    fc.assert(
      fc.property(
        fc.array(fc.record({ name: text, note: text, size: fc.nat() })),
        fc.integer({ min: 1, max: 120 }),
        (records, available) => {
          const lines = table(fields, records, { available, colour: false }).text.split("\n")
          assert.lengthOf(lines, records.length + 2)
          for (const line of lines) assert.isAtMost(width(line), available)
        }
      )
    )
  })

  it("of nodes keeps id, name and status on the narrowest terminal", () => {
    const columns = nodeRecord.fields([]).filter(({ cardOnly }) => !cardOnly)
    const { text } = table(columns, [], { available: 20, colour: false })
    assert.strictEqual(text, "ID  NAME  STATUS\n")
  })
})

describe("a text that is cut", () => {
  it.each([
    [4, "日本"],
    [3, "日…"],
    [2, "…"],
    [1, "…"],
    [0, ""]
  ])("to %i cells is %s", (cells, text) => assert.strictEqual(cut("日本", cells), text))
})

describe("a card", () => {
  it("has a line for each field", () => {
    assert.strictEqual(card(fields, rows[1]!, { colour: false }), "NAME  日本\nSIZE  1024\nNOTE  second\n")
  })
})

describe("a title", () => {
  it("is the name of its field in words", () => assert.strictEqual(titleOf("publicIp"), "PUBLIC IP"))
})
