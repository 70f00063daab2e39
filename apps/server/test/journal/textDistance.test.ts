import { describe, expect, it } from "@effect/vitest"
import { pathDistance, patternDistance, textDistance } from "../../src/journal/textDistance.ts"

describe("the distance of two texts", () => {
  it.each<[string, string, number]>([
    ["web", "web", 0],
    ["", "", 0],
    ["web", "", 1],
    ["web", "db!", 1],
    ["nodes", "ndoes", 1 / 5],
    ["nodes", "node", 1 / 5],
    ["nodes", "nodess", 1 / 6],
    ["nodes", "nudes", 1 / 5],
    ["kitten", "sitting", 3 / 7],
    ["Nodes", "nodes", 0.05]
  ])("%s and %s: %d", (left, right, expected) => {
    expect(textDistance(left, right)).toBe(expected)
    expect(textDistance(right, left)).toBe(expected)
  })

  it("is exact for one typing error in a long text, wherever it is", () => {
    for (const at of [0, 500, 9_999]) {
      const text = "abcdefghij".repeat(1_000)
      expect(textDistance(text, `${text.slice(0, at)}_${text.slice(at + 1)}`)).toBe(0.05)
    }
    expect(textDistance("x".repeat(1_000), "y".repeat(1_000))).toBeGreaterThan(0.05)
    expect(textDistance("x", "y".repeat(1_000_000))).toBe(1)
  })

  it("of a pattern does not count what its wildcards stand for", () => {
    expect(patternDistance("web-*", "wbe-17")).toBe(1 / 6)
    expect(patternDistance("web-??", "wbe-17")).toBe(1 / 6)
    expect(textDistance("web-*", "wbe-17")).toBe(3 / 6)
  })

  it("of two paths counts from where they part", () => {
    expect(pathDistance("/myaccount/api/v1/nodes/", "/myaccount/api/v1/ndoes/")).toBe(1 / 9)
    expect(pathDistance("/a/b/", "/a/b/")).toBe(0)
    expect(pathDistance("/a/*/c", "/a/b/d")).toBeLessThan(pathDistance("/a/*/c", "/a/b/def"))
  })
})
