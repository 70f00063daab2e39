import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { bodyFault, defaultMaxBodyTokens, maxDepth } from "../../src/api/BodyBounds.ts"

/** The number of tokens and the depth of a value, counted on the value and not on its text. */
const counted = (value: unknown): { readonly tokens: number; readonly depth: number } => {
  if (typeof value !== "object" || value === null) return { tokens: 0, depth: 0 }
  const inner = Object.values(value).map(counted)
  const members = inner.length
  const own = Array.isArray(value) ? 1 : 3 + 3 * members
  return {
    tokens: own + Math.max(0, members - 1) + inner.reduce((sum, { tokens }) => sum + tokens, 0),
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth))
  }
}

/** White space makes any body long enough to be scanned. */
const long = (body: string) => body + " ".repeat(70_000)

const string = fc.string({ unit: fc.constantFrom('"', "\\", ",", ":", "[", "{", "]", "}", "a", "\n") })
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    string,
    fc.integer(),
    fc.array(tie("json"), { maxLength: 4 }),
    fc.dictionary(string, tie("json"), { maxKeys: 4 })
  )
}))

describe("a body is parsed only within its bounds", () => {
  it("counts only what is outside strings", () => {
    fc.assert(
      fc.property(json, fc.boolean(), (value, indented) => {
        const { depth, tokens } = counted(value)
        const body = long(JSON.stringify(value, null, indented ? 2 : 0))
        assert.strictEqual(bodyFault(body, Math.max(1, tokens)), depth > maxDepth ? "too deep" : undefined)
        if (tokens > 1) assert.include(bodyFault(body, tokens - 1), `at most ${tokens - 1} tokens (maxBodyTokens)`)
      })
    )
  })

  it("may be nested as deep as the bound, and no deeper", () => {
    const nested = (depth: number) => long(`${'{"a":['.repeat(depth / 2)}${"]}".repeat(depth / 2)}`)
    assert.isUndefined(bodyFault(nested(maxDepth), defaultMaxBodyTokens))
    assert.include(bodyFault(nested(maxDepth + 2), defaultMaxBodyTokens), "nested at most 64 deep")
    assert.isUndefined(bodyFault(long("[]".repeat(1000)), defaultMaxBodyTokens))
  })

  it("accepts a text that is not JSON, because parsing it fails fast", () => {
    for (const body of ['"', "\\", '"\\', '"\\"', "<", "]"]) {
      assert.isUndefined(bodyFault(long(body), 1000))
      assert.isUndefined(bodyFault(body.repeat(100_000), defaultMaxBodyTokens))
    }
  })

  it("accepts pages of far more nodes than a page can have", () => {
    const node = { id: 7, name: "web", created_at: "2026-01-01T00:00:00Z", status: "running", plan: "P", disk: "1 GB" }
    const page = JSON.stringify({ data: Array.from({ length: 5000 }, () => node) })
    assert.isUndefined(bodyFault(page, defaultMaxBodyTokens))
  })

  for (const [what, body] of [
    ["objects", `[${"{},".repeat(100_000)}{}]`],
    ["lists", "[],".repeat(200_000)],
    ["numbers", "1,".repeat(200_001)],
    ["names", `{${Array.from({ length: 50_001 }, (_, i) => `"${i}":1`).join(",")}}`]
  ] as const) {
    it(`rejects too many ${what}`, () => {
      assert.include(bodyFault(body, defaultMaxBodyTokens), "at most 200000 tokens")
    })
  }

  it("is not scanned when it is short, unless the caller's bound is smaller", () => {
    assert.isUndefined(bodyFault("[".repeat(65_536), defaultMaxBodyTokens))
    assert.include(bodyFault("[1,2,3,4]", 3), "at most 3 tokens")
    assert.isUndefined(bodyFault("[1,2,3,4]", 9))
  })
})
