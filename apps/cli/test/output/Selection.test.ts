import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as fc from "fast-check"
import type { Field } from "../../src/output/RecordDescriptor.ts"
import { namedFields, selectFields, sorted } from "../../src/output/Selection.ts"

interface Row {
  readonly name: string | null
  readonly size: { readonly gb: number | null }
}

const fields: ReadonlyArray<Field<Row>> = [
  { key: "name", title: "NAME", value: ({ name }) => name ?? "-", dropOrder: 1 },
  { key: "size.gb", title: "SIZE", alias: "size", value: ({ size }) => `${size.gb} GB`, cardOnly: true },
  { key: "age", title: "AGE", value: () => "1d", computed: true }
]
const descriptor = { fields: () => fields, encode: (row: Row) => row }
const row = (name: string | null, gb: number | null): Row => ({ name, size: { gb } })
const names = (records: Result.Result<ReadonlyArray<Row>, unknown>) =>
  Result.getOrThrow(records).map(({ name }) => name)

describe("--columns", () => {
  it("selects fields by key, the end of a key, short word or title, in the given order, whatever the width", () => {
    for (const words of [
      ["size.gb", "name"],
      ["GB", "NAME"],
      ["size", "Name"]
    ]) {
      const selected = Result.getOrThrow(selectFields(fields, words))
      assert.deepStrictEqual(
        selected.map(({ key }) => key),
        ["size.gb", "name"]
      )
      assert.isTrue(selected.every((field) => field.dropOrder === undefined && field.cardOnly === undefined))
    }
  })

  it("all is every field", () => {
    assert.lengthOf(Result.getOrThrow(selectFields(fields, ["all"])), 3)
  })

  it("accepts a field that these records do not need, because a command must not fail after its work", () => {
    const needed = { fields: (rows: ReadonlyArray<Row>) => fields.slice(rows.length) }
    const rows = [row("a", 1)]
    const selected = selectFields(needed.fields(rows), ["age", "name"], namedFields(needed, rows))
    assert.deepStrictEqual(
      Result.getOrThrow(selected).map(({ key }) => key),
      ["age", "name"]
    )
    assert.deepStrictEqual(names(sorted({ ...descriptor, ...needed }, rows, ["name"])), ["a"])
  })

  it("that does not exist is a usage fault with the nearest one", () => {
    const failure = Result.getOrThrow(Result.flip(selectFields(fields, ["nmae"])))
    assert.strictEqual(failure.message, "--columns cannot be nmae; did you mean name?")
    assert.strictEqual(failure.hint, "It takes name, size, age.")
  })
})

describe("--sort", () => {
  it("orders numbers by size, numbers within names by value, and missing values last in both directions", () => {
    const rows = [row("web-10", 2), row(null, 1), row("web-2", null), row("web-1", 10)]
    assert.deepStrictEqual(names(sorted(descriptor, rows, ["name"])), ["web-1", "web-2", "web-10", null])
    assert.deepStrictEqual(names(sorted(descriptor, rows, ["-name"])), ["web-10", "web-2", "web-1", null])
    assert.deepStrictEqual(names(sorted(descriptor, rows, ["size"])), [null, "web-10", "web-1", "web-2"])
    assert.deepStrictEqual(names(sorted(descriptor, rows, ["-size"])), ["web-1", "web-10", null, "web-2"])
  })

  it("compares the next key if the first is equal", () => {
    const rows = [row("a", 1), row("b", 2), row("a", 3)]
    const sizes = Result.getOrThrow(sorted(descriptor, rows, ["name", "-size"])).map(({ size }) => size.gb)
    assert.deepStrictEqual(sizes, [3, 1, 2])
  })

  it("takes no field that is only worked out for people", () => {
    assert.isTrue(Result.isFailure(sorted(descriptor, [], ["age"])))
  })

  it("keeps every record, and keeps the order of equal ones", () => {
    const records = fc.array(fc.record({ name: fc.constantFrom("a", "b", null), size: fc.record({ gb: fc.nat(2) }) }))
    fc.assert(
      fc.property(records, (rows) => {
        const result = Result.getOrThrow(sorted(descriptor, rows, ["name"]))
        for (const name of ["a", "b", null]) {
          assert.deepStrictEqual(
            result.filter((row) => row.name === name),
            rows.filter((row) => row.name === name)
          )
        }
      })
    )
  })
})
