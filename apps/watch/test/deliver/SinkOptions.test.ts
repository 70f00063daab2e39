import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { matchesGlob, selects } from "../../src/deliver/SinkOptions.ts"
import type { StoredEvent } from "../../src/store/accounts.ts"

const event = (
  over: Partial<StoredEvent> = {},
  data: object = { before: null, after: { name: "web-1" } }
): StoredEvent => ({
  account: "eu",
  seq: 1,
  id: "id",
  type: "berth.node.created",
  node: 7,
  atMillis: 0,
  body: JSON.stringify({ data }),
  ...over
})

const all = { types: [], nodes: [], causes: [], accounts: [] }

describe("a filter", () => {
  it("lets everything pass when it states nothing", () => {
    expect(selects(all, event())).toBe(true)
  })

  it("selects by account, type and the name of the node, before or after", () => {
    expect(selects({ ...all, accounts: ["us"] }, event())).toBe(false)
    expect(selects({ ...all, types: ["berth.node.*"] }, event())).toBe(true)
    expect(selects({ ...all, types: ["berth.watch.*", "berth.node.deleted"] }, event())).toBe(false)
    expect(selects({ ...all, nodes: ["web-*"] }, event())).toBe(true)
    expect(selects({ ...all, nodes: ["db-*"] }, event())).toBe(false)
    const renamed = { before: { name: "db-1" }, after: { name: "web-1" } }
    expect(selects({ ...all, nodes: ["db-*"] }, event({}, renamed))).toBe(true)
    expect(selects({ ...all, nodes: ["db-*"] }, event({ node: null, type: "berth.watch.degraded" }))).toBe(true)
  })

  it("selects by the cause of a deletion, and lets all other events pass", () => {
    const deleted = (cause: string, name = "web-1") =>
      event({ type: "berth.node.deleted" }, { before: { name }, after: null, cause })
    const unexpected = { ...all, causes: ["unknown" as const] }
    expect(selects(unexpected, deleted("unknown"))).toBe(true)
    expect(selects(unexpected, deleted("requested"))).toBe(false)
    expect(selects({ ...unexpected, causes: ["unknown", "commitment"] }, deleted("commitment"))).toBe(true)
    expect(selects({ ...unexpected, nodes: ["web-*"] }, deleted("unknown", "db-1"))).toBe(false)
    expect(selects(unexpected, event())).toBe(true)
    expect(selects(unexpected, event({ node: null, type: "berth.watch.degraded" }))).toBe(true)
  })

  it.each([
    ["*", "", true],
    ["a*a", "a", false],
    ["a*b*c", "aXbYc", true],
    ["a*b*c", "acb", false],
    ["*ab*ab", "ab", false],
    ["a.c", "abc", false],
    ["web", "web-1", false]
  ])("with %j and %j is %j", (glob, text, expected) => {
    expect(matchesGlob(glob, text)).toBe(expected)
  })

  it("agrees with a regular expression", () => {
    const text = fc.array(fc.constantFrom("a", "b", "*"), { maxLength: 8 }).map((parts) => parts.join(""))
    fc.assert(
      fc.property(text, text, (glob, name) => {
        const pattern = new RegExp(`^${glob.replaceAll("*", ".*")}$`)
        expect(matchesGlob(glob, name)).toBe(pattern.test(name))
      }),
      { seed: 3, numRuns: 2000 }
    )
  })
})
