import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import { type Batch, JsonReader, maxDepth, maxValues } from "../../src/transport/JsonReader.ts"

const mebibyte = 1024 * 1024
const bytesOf = (text: string) => new TextEncoder().encode(text)

const longArrays = ["nodes", "allowance.grants"]

interface Read {
  /** The refusal, or the value with long arrays put back into it. */
  readonly outcome: unknown
  readonly batches: ReadonlyArray<Batch>
  /** How many bytes had come when the outcome was clear. */
  readonly bytes: number
}

/** Reads a text in pieces of at most so many bytes. */
const read = (text: string | Uint8Array, pieceBytes = 64 * 1024): Read => {
  const bytes = typeof text === "string" ? bytesOf(text) : text
  const batches: Array<Batch> = []
  const reader = new JsonReader({ longArrays, onBatch: (batch) => void batches.push(batch) })
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const refusal = reader.push(bytes.subarray(at, at + pieceBytes))
    if (refusal !== undefined) return { outcome: refusal, batches, bytes: at + pieceBytes }
  }
  const end = reader.end()
  const outcome = Result.isSuccess(end) ? putBack(end.success, batches) : end.failure
  return { outcome, batches, bytes: bytes.length }
}

const putBack = (value: any, batches: ReadonlyArray<Batch>): unknown => {
  const at = (array: string) => array.split(".").reduce((part, key) => part[key], value)
  for (const { again, array, elements, from } of batches) {
    expect(again()).toEqual(elements)
    expect(at(array).length).toBe(from)
    at(array).push(...elements)
  }
  return value
}

const refusal = (code: number, field: string) => ({ code, errors: { [field]: [expect.any(String)] } })

const key = fc.constantFrom("nodes", "allowance", "grants", "a:b", 'q"', "\\", "__proto__", "constructor", "", "é{[")
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, 0, -1.5e300, "", '":,[]{}\\', "\u0000\ud83d\ude00"),
    fc.string({ unit: "binary" }),
    fc.array(tie("value")),
    fc.uniqueArray(fc.tuple(key, tie("value")), { selector: ([name]) => name }).map(Object.fromEntries)
  )
}))

describe("JSON that is read while it arrives", () => {
  it("is what JSON.parse makes of it, wherever the pieces end", () => {
    fc.assert(
      fc.property(anyValue, fc.integer({ min: 1, max: 40 }), fc.constantFrom(0, 2), (value, pieceBytes, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(read(text, pieceBytes).outcome).toEqual(JSON.parse(text))
      }),
      { numRuns: 1000 }
    )
  })

  it("is accepted exactly where JSON.parse accepts it, of texts that are nearly JSON", () => {
    const token = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      '"nodes"',
      '"a"',
      '"',
      "\\",
      "1",
      " ",
      "x",
      "null",
      "\ufeff"
    )
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), fc.integer({ min: 1, max: 9 }), (tokens, pieceBytes) => {
        const text = tokens.join("")
        const parsed = Result.try((): unknown => JSON.parse(text.replace(/^\ufeff/, "")))
        const { outcome } = read(text, pieceBytes)
        if (Result.isFailure(parsed)) expect(outcome).toMatchObject({ code: 400 })
        else if ((outcome as { code?: unknown } | null)?.code === 422) expect(text).toMatch(/("nodes"|"a").*\1/)
        else expect(outcome).toEqual(parsed.success)
      }),
      { numRuns: 5000 }
    )
  })

  it("is refused where its bytes are no UTF-8", () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc3, 0x22],
      [0xed, 0xa0, 0x80]
    ]) {
      expect(read(Uint8Array.from(bytes)).outcome).toMatchObject({ code: 400 })
      const inBatch = Uint8Array.from([...bytesOf('{"nodes":['), ...bytes, ...bytesOf("]}")])
      expect(read(inBatch).outcome).toMatchObject({ code: 400 })
    }
  })

  it("is handed over in batches, in order and complete", () => {
    const nodes = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `node-${id}` }))
    const { batches, outcome } = read(JSON.stringify({ a: 1, nodes, b: 2 }))
    expect(outcome).toEqual({ a: 1, nodes, b: 2 })
    expect(batches.length).toBeGreaterThan(20)
    for (const { elements } of batches) expect(JSON.stringify(elements).length).toBeLessThan(20 * 1024)
  })

  it("is refused where a comma has no element after it, also between two batches", () => {
    const element = `"${"x".repeat(20_000)}"`
    for (const nodes of [`${element},`, `${element},,${element}`, `,${element}`, `${element} ${element}`]) {
      expect([nodes.length, read(`{"nodes":[${nodes}]}`).outcome]).toEqual([
        nodes.length,
        expect.objectContaining({ code: 400 })
      ])
    }
  })
})

describe("a key that comes twice", () => {
  const long = `"${"x".repeat(17_000)}"`
  for (const [text, path] of [
    ['{"a":1,"b":2,"a":1}', "a"],
    ['{"a":{"b":[0,{"c":1,"\\u0063":2}]}}', "a.b.1.c"],
    ['[{"a":1},{"a":1,"a":2}]', "1.a"],
    ['{"__proto__":1,"__proto__":2}', "__proto__"],
    ['{"constructor":{"toString":1,"toString":2}}', "constructor.toString"],
    ['{"nodes":[1],"nodes":[2]}', "nodes"],
    ['{"nodes":[{"id":1},{"id":2,"id":2}]}', "nodes.1.id"],
    [`{"nodes":[${long},${long},{"id":1},{"id":2,"id":2}]}`, "nodes.3.id"],
    [`{"allowance":{"grants":[0,{"a":[{},{"b":1,"b":1}]}]}}`, "allowance.grants.1.a.1.b"]
  ] as const) {
    it(`is refused by its path: ${path}`, () => expect(read(text).outcome).toMatchObject(refusal(422, path)))
  }

  it("may come in objects of their own, and in strings", () => {
    const text = '{"a":{"a":1},"b":[{"a":1},{"a":"\\"a\\":1,\\"a\\":2"}]}'
    expect(read(text).outcome).toEqual(JSON.parse(text))
  })
})

describe("JSON that would cost too much", () => {
  it("is refused at once where it is nested too deep", () => {
    for (const [text, field] of [
      ["[".repeat(100_000), "detail"],
      ['{"a":'.repeat(100_000), "a"],
      [`{"nodes":[1,${"[".repeat(100_000)}`, "nodes.1"]
    ] as const) {
      expect(read(text)).toMatchObject({ outcome: refusal(422, field), bytes: 64 * 1024 })
    }
    const deep = "[".repeat(maxDepth) + "]".repeat(maxDepth)
    expect(read(deep).outcome).toEqual(JSON.parse(deep))
    expect(read(`[${deep}]`).outcome).toMatchObject(refusal(422, "detail"))
    // An element of a long array is two levels down.
    const element = deep.slice(2, -2)
    expect(read(`{"nodes":[1,${element}]}`).outcome).toEqual({ nodes: [1, JSON.parse(element)] })
    expect(read(`{"nodes":[1,[${element}]]}`).outcome).toMatchObject(refusal(422, "nodes.1"))
  })

  it("is refused after so many values", () => {
    const values = (count: number) => `[${Array.from({ length: count }, () => 0).join()}]`
    expect((read(values(maxValues)).outcome as Array<number>).length).toBe(maxValues)
    expect(read(values(maxValues + 1)).outcome).toMatchObject(refusal(422, "detail"))
    expect(read(`{"lives":[${"[],".repeat(10 * mebibyte)}`)).toMatchObject({
      outcome: refusal(422, "lives"),
      bytes: 64 * 1024
    })
    expect(read(`{"nodes":[1,${values(200_000)}]}`).outcome).toMatchObject(refusal(422, "nodes.1"))
  })

  it("is refused after 1 MiB outside long arrays, or in one element", () => {
    expect(read(`"${"x".repeat(mebibyte - 2)}"`).outcome).toBe("x".repeat(mebibyte - 2))
    for (const text of [
      `"${"x".repeat(10 * mebibyte)}"`,
      " ".repeat(10 * mebibyte),
      `{"nodes":[1,"${"x".repeat(10 * mebibyte)}"]}`,
      `{"nodes":[1${" ".repeat(10 * mebibyte)}]}`
    ]) {
      const { bytes, outcome } = read(text)
      expect(outcome).toMatchObject(refusal(413, "detail"))
      expect(bytes).toBeLessThan(mebibyte + 2 * 64 * 1024)
    }
  })
})
