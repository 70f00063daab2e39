import { assert, describe, it } from "@effect/vitest"
import { nameMatcher, parseTarget } from "../../src/nodes/Target.ts"

describe("a NODE argument", () => {
  it.each([
    ["12", "Id"],
    ["0", "Name"],
    ["012", "Name"],
    ["1e3", "Name"],
    ["9007199254740993", "Name"],
    ["web-1", "Name"]
  ])("%s is an %s", (given, tag) => {
    assert.strictEqual(parseTarget(given)._tag, tag)
  })
})

describe("a name pattern", () => {
  it.each([
    ["web", "web", true],
    ["web", "web-1", false],
    ["web-*", "web-1", true],
    ["web-?", "web-12", false],
    ["web-[12]", "web-2", true],
    ["{web,db}-*", "db-1", true],
    ["*", ".hidden", true],
    ["a*c", "a/b/c", true],
    ["//*", "//host", true],
    ["WEB-*", "web-1", false],
    ["web.*", "webx1", false]
  ])("%s and the name %s: %s", (pattern, name, fits) => {
    assert.strictEqual(nameMatcher(pattern)(name), fits)
  })
})
