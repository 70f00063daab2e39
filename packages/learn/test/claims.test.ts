import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { claims, isClaim } from "../src/claims.ts"

const page = readFileSync(new URL("../../../docs/interface/assumptions.md", import.meta.url), "utf8")
const assumptions = Array.from(page.matchAll(/^### (A\d+) /gm), ([, id]) => id!)

describe("the table of claims", () => {
  it("has for every assumption an observation that would refute it, or a reason why none can", () => {
    const covered = new Set(claims.map(({ assumption }) => assumption))
    expect(assumptions.length).toBeGreaterThan(20)
    expect(assumptions.filter((id) => !covered.has(id))).toEqual([])
    expect([...covered].filter((id) => !assumptions.includes(id))).toEqual([])
  })

  it("states each claim once, in words", () => {
    const texts = claims.map(({ assumption, claim }) => `${assumption} ${claim}`)
    expect(new Set(texts).size).toBe(texts.length)
    for (const entry of claims) {
      expect(entry.claim.length).toBeGreaterThan(5)
      expect((isClaim(entry) ? entry.refutedBy : entry.unobservable).length).toBeGreaterThan(10)
    }
  })
})
