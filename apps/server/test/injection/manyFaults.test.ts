/** Many faults in the records of one reply: each fault works on the result of the one before it. */
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { editable, type RecordEdit, successOf, withJson } from "../../src/injection/replyBody.ts"
import { bytesOf } from "../../src/transport/replyBytes.ts"
import { HttpServerResponse } from "effect/http"

type Fields = Readonly<Record<string, unknown>>

const others = (value: unknown): unknown => (typeof value === "string" ? [value] : "ü")
const fieldNames = ["a", "b", "7", 'x"y', "__proto__", "constructor"]

/** A change in place, and the same change on a copy of a record. */
const change = fc
  .record({
    kind: fc.constantFrom("set", "change", "remove"),
    field: fc.constantFrom(...fieldNames),
    value: fc.jsonValue()
  })
  .map(({ field, kind, value }): { edit: RecordEdit; copy: (record: Fields) => Fields } => {
    switch (kind) {
      case "set":
        return { edit: { field, to: () => value }, copy: (record) => ({ ...record, [field]: value }) }
      case "change":
        return {
          edit: { field, to: (before) => (before === undefined ? undefined : others(before)) },
          copy: (record) => (Object.hasOwn(record, field) ? { ...record, [field]: others(record[field]) } : record)
        }
      default:
        return {
          edit: { field, to: () => undefined },
          copy: (record) => Object.fromEntries(Object.entries(record).filter(([name]) => name !== field))
        }
    }
  })

const record = fc.dictionary(fc.constantFrom(...fieldNames), fc.jsonValue(), { minKeys: 1 })
const data = fc.oneof(fc.array(record, { maxLength: 4 }), record)

const replyOf = (data: unknown) =>
  withJson(HttpServerResponse.empty({ status: 200 }), { message: "Success", code: 200, data, errors: {} })
const textOf = (reply: HttpServerResponse.HttpServerResponse) => new TextDecoder().decode(bytesOf(reply))

describe("faults in the records of one reply", () => {
  it("make the same of each text as of a copy, and count if the text differs", () => {
    fc.assert(
      fc.property(data, fc.array(change, { maxLength: 8 }), (data, changes) => {
        // Copy the data through JSON, as a reader of the reply gets it: JavaScript puts keys that are numbers first.
        let copy: any = JSON.parse(JSON.stringify(data))
        const records = editable(replyOf(copy))
        for (const { copy: changed, edit } of changes) {
          const all: ReadonlyArray<Fields> = Array.isArray(copy) ? copy : [copy]
          const before = textOf(replyOf(copy))
          if (all.some((record) => Object.keys(record).length > 0)) {
            copy = Array.isArray(copy) ? copy.map(changed) : changed(copy)
          }
          const after = textOf(replyOf(copy))
          expect(records.edit(() => edit)).toBe(after !== before)
        }
        expect(textOf(records.written())).toBe(textOf(replyOf(copy)))
      }),
      { numRuns: 500, seed: 3 }
    )
  })

  it("leave an empty list in which nothing changes any more", () => {
    const records = editable(replyOf([{ a: 1 }, { a: 2 }]))
    expect(records.edit(() => "empty")).toBe(true)
    expect(records.edit(() => ({ field: "b", to: () => 1 }))).toBe(false)
    expect(successOf(records.written())).toEqual({ message: "Success", code: 200, data: [], errors: {} })
  })

  it("do not count where a field has that value already", () => {
    const records = editable(replyOf({ a: { b: [1] } }))
    expect(records.edit(() => ({ field: "a", to: () => ({ b: [1] }) }))).toBe(false)
    expect(records.edit(() => ({ field: "a", to: () => ({ b: [2] }) }))).toBe(true)
  })
})
