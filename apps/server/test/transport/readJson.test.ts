import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { jsonProblem, maxDepth, maxFields, maxValues } from "../../src/transport/readJson.ts"

const key = fc.constantFrom("nodes", "a:b", 'q"', "\\", "__proto__", "constructor", "", "é{[")
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, 0, -1.5e300, "", '":,[]{}\\', "\u0000\ud83d\ude00"),
    fc.string({ unit: "binary" }),
    fc.array(tie("value")),
    fc.uniqueArray(fc.tuple(key, tie("value")), { selector: ([name]) => name }).map(Object.fromEntries)
  )
}))

it("what JSON.stringify writes has no problem, however it is indented", () => {
  fc.assert(
    fc.property(anyValue, fc.constantFrom(0, 2), (value, indent) => {
      expect(jsonProblem(JSON.stringify(value, null, indent))).toBe(undefined)
    }),
    { numRuns: 1000 }
  )
})

describe("a key that comes twice", () => {
  for (const [text, path] of [
    ['{"a":1,"b":2,"a":1}', "a"],
    ['{"a":{"b":[0,{"c":1,"\\u0063":2}]}}', "a.b.1.c"],
    ['[{"a":1},{"a":1,"a":2}]', "1.a"],
    ['{"__proto__":1,"__proto__":2}', "__proto__"],
    ['{"constructor":{"toString":1,"toString":2}}', "constructor.toString"],
    ['{"nodes":[1],"nodes":[2]}', "nodes"],
    ['{"nodes":[{"id":1},{"id":2,"id":2}]}', "nodes.1.id"]
  ] as const) {
    it(`is found by its path: ${path}`, () => {
      expect(jsonProblem(text)).toEqual({ path, sentence: "The field is given twice." })
    })
  }

  it("may come in objects of their own, and in strings", () => {
    expect(jsonProblem('{"a":{"a":1},"b":[{"a":1},{"a":"\\"a\\":1,\\"a\\":2"}]}')).toBe(undefined)
  })
})

describe("JSON that would cost too much", () => {
  it("is nested too deep", () => {
    const sentence = `Expected at most ${maxDepth} levels of arrays and objects.`
    const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
    expect(jsonProblem(deep(maxDepth))).toBe(undefined)
    expect(jsonProblem(deep(maxDepth + 1))).toEqual({ path: "", sentence })
    expect(jsonProblem(`{"b":0,"a":${deep(100_000)}}`)).toEqual({ path: "a", sentence })
  })

  it("has too many values", () => {
    const sentence = `Expected at most ${maxValues} values.`
    const values = (count: number) => `[${Array.from({ length: count }, () => 0).join()}]`
    expect(jsonProblem(values(maxValues))).toBe(undefined)
    expect(jsonProblem(values(maxValues + 1))).toEqual({ path: "", sentence })
    expect(jsonProblem(`{"lives":${values(maxValues)}}`)).toEqual({ path: "lives", sentence })
    expect(jsonProblem(values(maxValues + 1), maxValues + 2)).toBe(undefined)
  })

  it("has an object with too many fields", () => {
    const sentence = `Expected at most ${maxFields} fields in an object.`
    const fields = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":0`).join()}}`
    expect(jsonProblem(fields(maxFields))).toBe(undefined)
    expect(jsonProblem(`[${fields(maxFields)},${fields(maxFields)}]`)).toBe(undefined)
    expect(jsonProblem(`{"a":${fields(maxFields + 1)}}`)).toEqual({ path: "a", sentence })
  })
})
