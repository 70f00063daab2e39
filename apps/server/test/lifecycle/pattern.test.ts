import { describe, expect, it } from "@effect/vitest"
import { threadCpuMillis } from "@berthkit/testing/threadCpu"
import fc from "fast-check"
import { matches } from "../../src/lifecycle/pattern.ts"

/** The meaning of a pattern, found by trying every possibility. */
const means = (pattern: string, text: string): boolean => {
  if (pattern === "") return text === ""
  if (pattern[0] === "*") return means(pattern.slice(1), text) || (text !== "" && means(pattern, text.slice(1)))
  return text !== "" && (pattern[0] === "?" || pattern[0] === text[0]) && means(pattern.slice(1), text.slice(1))
}

const textOf = (characters: string, maxLength: number) => fc.string({ unit: fc.constantFrom(...characters), maxLength })

describe("a pattern", () => {
  it.each([
    ["", "", true],
    ["", "a", false],
    ["*", "", true],
    ["?", "", false],
    ["web-*", "web-1", true],
    ["web-*", "Web-1", false],
    ["*-1", "web-1-1", true],
    ["w?b", "web", true],
    ["w?b", "wb", false],
    ["/nodes/*/", "/nodes/7/", true],
    ["/nodes/*/", "/nodes/7", false],
    ["constructor", "constructor", true],
    ["a.c", "abc", false]
  ])("%s, %s: %s", (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected)
  })

  it("means what it means by trying everything", () => {
    fc.assert(
      fc.property(textOf("ab*?", 8), textOf("ab", 10), (pattern, text) => {
        expect(matches(pattern, text)).toBe(means(pattern, text))
      }),
      { numRuns: 3_000 }
    )
  })

  it("may be longer than a word of bits", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200 }), textOf("ab", 40), (length, text) => {
        const long = "a".repeat(length)
        expect(matches(`${long}?${text}*b`, `${long}x${text}${text}b`)).toBe(true)
        expect(matches(`*${long}?${text}b`, `${text}${long}x${text}b`)).toBe(true)
        expect(matches(`${long}?${text}`, `${long}x${text}b`)).toBe(false)
        expect(matches(`${long}?${text}`, `${long}${text}`)).toBe(false)
      }),
      { numRuns: 500 }
    )
  })

  it("that nearly fits everywhere costs no quadratic time", () => {
    const text = "a".repeat(300_000)
    const began = threadCpuMillis()
    for (const pattern of [`*${"a".repeat(1_000)}b*`, `*${"?a".repeat(500)}b`])
      expect(matches(pattern, text)).toBe(false)
    // This takes 20 million steps. A search that starts again at each character would take 600 million.
    expect(threadCpuMillis() - began).toBeLessThan(1_000)
  })
})
