import { describe, expect, it } from "@effect/vitest"
import type { JournalEntry } from "../../src/journal/JournalEntry.ts"
import { type Expected, verify } from "../../src/journal/verify.ts"

const entry = (seq: number, change: Partial<JournalEntry> = {}): JournalEntry => ({
  seq,
  at: "2026-01-01T00:00:00.000Z",
  durationMillis: 0,
  method: "GET",
  path: "/myaccount/api/v1/nodes/",
  operation: "nodes.list",
  query: {},
  body: null,
  status: 200,
  faults: [],
  ...change
})

const created = (seq: number, name: string, status = 202) =>
  entry(seq, {
    method: "POST",
    operation: "nodes.create",
    body: JSON.stringify({ name, tags: ["a", { b: 1 }] }),
    status
  })

const journal = [
  entry(1),
  created(2, "web"),
  created(3, "db", 422),
  entry(4, { query: { page_no: "2" }, faults: ["list-shifts"], status: null })
]

const isFound = (call: Expected): boolean => verify(journal, { expected: [call] }).ok

describe("what is expected of a journal", () => {
  it.each<[Expected, boolean]>([
    [{ operation: "nodes.list" }, true],
    [{ operation: "nodes.delete" }, false],
    [{ method: "POST", status: 422 }, true],
    [{ path: "/myaccount/*/nodes/" }, true],
    [{ path: "/nodes/" }, false],
    [{ query: { page_no: "?" } }, true],
    [{ query: { page_no: "3" } }, false],
    [{ status: null }, true],
    [{ faults: ["list-shifts"] }, true],
    [{ faults: ["status"] }, false],
    [{ body: { name: "web" } }, true],
    [{ body: { tags: ["a", { b: 1 }] } }, true],
    [{ body: { tags: ["a"] } }, false],
    [{ body: { name: "web", plan: "x" } }, false],
    [{ operation: "nodes.create", count: 2 }, true],
    [{ operation: "nodes.create", count: 1 }, false],
    [{ operation: "nodes.create", atLeast: 3 }, false],
    [{ operation: "nodes.create", atMost: 1 }, false],
    [{ operation: "nodes.delete", atMost: 1 }, true],
    [{ operation: "nodes.delete", count: 0 }, true]
  ])("%j: %s", (call, found) => {
    expect(isFound(call)).toBe(found)
  })

  it("a mismatch shows the nearest requests first, and their differences", () => {
    const call: Expected = { operation: "nodes.create", status: 202, body: { name: "db" } }
    const { mismatches, ok } = verify(journal, { expected: [call] })
    expect(ok).toBe(false)
    expect(mismatches).toMatchObject([{ expected: call, wanted: "at least 1", found: 0 }])
    const [first, second] = mismatches[0]!.nearMisses
    expect([first!.request.seq, first!.differs]).toEqual([2, ['body.name: "web", not "db"']])
    expect([second!.request.seq, second!.differs]).toEqual([3, ["status: 422, not 202"]])
  })

  it("too many are a mismatch without near misses", () => {
    const { mismatches } = verify(journal, { expected: [{ method: "GET", count: 1 }] })
    expect(mismatches).toMatchObject([{ wanted: "exactly 1", found: 2, nearMisses: [] }])
  })

  it("where no others are allowed, they are named", () => {
    const verdict = verify(journal, { expected: [{ operation: "nodes.list", count: 2 }], noOthers: true })
    expect([verdict.ok, verdict.mismatches, verdict.others.map(({ seq }) => seq)]).toEqual([false, [], [2, 3]])
  })

  it("an empty journal, and no expectations, are no trouble", () => {
    expect(verify([], { expected: [] })).toEqual({ ok: true, mismatches: [], others: [] })
    expect(verify([], { expected: [{}] })).toMatchObject({ ok: false, mismatches: [{ found: 0, nearMisses: [] }] })
  })
})
