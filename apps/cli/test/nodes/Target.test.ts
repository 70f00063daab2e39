import { assert, describe, it } from "@effect/vitest"
import { nameMatcher, parseTarget, targetMatcher } from "../../src/nodes/Target.ts"

describe("a NODE argument", () => {
  it.each([
    ["12", "Id"],
    ["0", "Id"],
    ["012", "Id"],
    ["1e3", "Name"],
    ["9007199254740993", "Id"],
    ["web-1", "Name"],
    ["web-*", "Pattern"],
    ["web-[12]", "Name"],
    ["{web,db}-1", "Name"],
    ["web-[12]?", "Pattern"],
    ["name:12", "Name"],
    ["name:web-*", "Name"],
    ["pattern:web-[12]", "Pattern"],
    ["pattern:12", "Pattern"]
  ])("%s is an %s", (given, tag) => {
    assert.strictEqual(parseTarget(given)._tag, tag)
  })

  it.each(["0", "012", "9007199254740993"])("%s is the id of no node", (given) => {
    assert.deepInclude(parseTarget(given), { _tag: "Id", id: undefined })
  })

  it("is a name with its asterisk if a command takes no patterns", () => {
    assert.deepInclude(parseTarget("web-*", { patterns: false }), { _tag: "Name", name: "web-*" })
  })

  it.each(["12", "007", "*", "web-?", "name:x", "pattern:x", "db[1]", "web", "", "a b\n"])(
    "can give any name exactly: %j",
    (name) => {
      const target = parseTarget(`name:${name}`)
      assert.strictEqual(target._tag, "Name")
      assert.isTrue(targetMatcher(target)(name))
      assert.isFalse(targetMatcher(target)(`${name}x`))
    }
  )
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
