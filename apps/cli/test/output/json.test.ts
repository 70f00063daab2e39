import { assert, describe, it } from "@effect/vitest"
import { jsonBlock } from "../../src/output/json.ts"

const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth))

describe("JSON for reading", () => {
  it("is indented", () => assert.strictEqual(jsonBlock({ a: [1] }), '{\n  "a": [\n    1\n  ]\n}'))

  it("is on one line when it is nested as deep as nobody reads", () => {
    const depth = 20_000
    assert.strictEqual(jsonBlock({ extra: nested(depth) }), `{"extra":${"[".repeat(depth)}${"]".repeat(depth)}}`)
  })
})
