import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { onlyValueOf } from "../../src/http/credentials.ts"

/** The same, as the platform's `URLSearchParams` reads it. */
const byUrlSearchParams = (name: string, query: string): string | undefined => {
  const values = new Set(new URLSearchParams(query).getAll(name))
  const [value] = values
  return values.size === 1 && value !== "" ? value : undefined
}

const piece = fc.constantFrom(
  "apikey",
  "=",
  "&",
  "a",
  "%61",
  "%",
  "+",
  "%2B",
  "?",
  "é",
  "k",
  "%C3",
  "%A9",
  "apikey=k",
  "&apikey"
)

describe("the only value of a parameter", () => {
  it("is what URLSearchParams gives once", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const query = pieces.join("")
        // The platform drops a leading `?`, so a query that itself begins with `?` needs a second one.
        const read = byUrlSearchParams("apikey", query.startsWith("?") ? `?${query}` : query)
        assert.strictEqual(onlyValueOf("apikey", `/nodes/?${query}`), read)
      }),
      { numRuns: 2000 }
    )
  })

  it("is none without a query", () => {
    assert.isUndefined(onlyValueOf("apikey", "apikey=k"))
  })
})
