import { describe, expect, it } from "@effect/vitest"
import type { ExpectedCall } from "../../src/journal/ExpectedCall.ts"
import type { JournalEntry } from "../../src/journal/JournalEntry.ts"
import { created, entry, judgeOf } from "./verdicts.ts"

const list = { operation: "nodes.list" } as const
const create = { operation: "nodes.create" } as const

describe("the order of expected calls", () => {
  const judge = judgeOf([entry(1), created(2, "web"), entry(3)])

  it("does not matter where it is not asked for", async () => {
    const journal = [entry(1), created(2, "web")]
    expect((await judge({ expected: [create, list] }, journal)).ok).toBe(true)
    expect((await judge({ expected: [create, list], inOrder: true }, journal)).ok).toBe(false)
  })

  it("is not met by one request for two calls", async () => {
    const { mismatches } = await judge({ expected: [list, { method: "GET" }], inOrder: true }, [entry(1)])
    expect(mismatches).toMatchObject([
      {
        wanted: "at least 1 after request 1",
        found: 0,
        nearMisses: [{ request: { seq: 1 }, differs: ["request 1 came too early, expected after request 1"] }]
      }
    ])
  })

  it("goes on after as many requests as a call is expected", async () => {
    const { mismatches } = await judge({ expected: [{ ...list, count: 2 }, create], inOrder: true })
    expect(mismatches).toMatchObject([{ expected: create, wanted: "at least 1 after request 3", found: 0 }])
  })
})

describe("what a verdict shows", () => {
  const judge = judgeOf([])

  it("are near misses up to one weight further away than the nearest", async () => {
    const journal = [entry(1), entry(2, { query: { a: "1" } }), entry(3, { status: 404, method: "PUT" })]
    const { mismatches } = await judge({ expected: [{ ...list, query: { a: "1" }, status: 500 }] }, journal)
    // A status weighs 0.3 and a parameter that is missing 1.
    expect(mismatches[0]!.nearMisses.map(({ request }) => request.seq)).toEqual([2, 1, 3])
    const further = [...journal.slice(0, 2), entry(3, { operation: null, path: "/" })]
    const { mismatches: others } = await judge({ expected: [{ ...list, query: { a: "1" }, status: 500 }] }, further)
    expect(others[0]!.nearMisses.map(({ request }) => request.seq)).toEqual([2, 1])
  })

  it("are ten differences of a near miss", async () => {
    const query = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`p${n}`, "x"]))
    const { mismatches } = await judge({ expected: [{ query }] }, [entry(1)])
    expect(mismatches[0]!.nearMisses[0]!.differs.length).toBe(10)
  })

  it("are twenty mismatches and ten other requests, and how many there are besides", async () => {
    const expected = Array.from({ length: 25 }, (_, n) => ({ path: `/${n}` }))
    const requests = Array.from({ length: 12 }, (_, n) => entry(n + 1))
    const { message, mismatches, others } = await judge({ expected, noOthers: true }, requests)
    expect([mismatches.length, others.length]).toEqual([25, 12])
    expect(mismatches.map(({ nearMisses }) => nearMisses.length > 0)).toEqual(expected.map((_, n) => n < 20))
    const lines = message.split("\n")
    expect(lines.filter((line) => line.startsWith("Expected ")).length).toBe(20)
    expect(lines.filter((line) => line.startsWith("Not expected: ")).length).toBe(10)
    expect(lines).toContain("5 further mismatches.")
    expect(lines).toContain("2 further requests, not expected.")
  })
})

describe("the differences of a near miss", () => {
  const differs = async (expected: ExpectedCall, ...requests: ReadonlyArray<JournalEntry>) =>
    (await judgeOf(requests)({ expected: [expected] })).mismatches[0]!.nearMisses

  it("name a misspelt parameter only where it is like the missing one, and was not expected itself", async () => {
    const [like] = await differs({ query: { pageno: "1" } }, entry(1, { query: { page_no: "1" } }))
    expect(like!.differs).toEqual(['query pageno is missing, expected "1"; there is page_no'])
    const [other] = await differs({ query: { zzz: "1" } }, entry(1, { query: { abc: "1" } }))
    expect(other!.differs).toEqual(['query zzz is missing, expected "1"'])
    const [expected] = await differs({ query: { pages: "1", page: "1" } }, entry(1, { query: { page: "1" } }))
    expect(expected!.differs).toEqual(['query pages is missing, expected "1"'])
  })

  it("are of the whole value where it is of another kind", async () => {
    const [object] = await differs({ body: { name: { a: 1 } } }, created(1, "web"))
    expect(object!.differs).toEqual(['body.name is "web", expected {"a":1}'])
    const [list] = await differs({ body: { name: ["a"] } }, created(1, "web"))
    expect(list!.differs).toEqual(['body.name is "web", expected ["a"]'])
  })

  it("of a body weigh no more than a body that is not there, and end where they weigh as much", async () => {
    const body = { a: 1, b: 2, c: 3, d: 4, e: 5 }
    const misses = await differs({ body }, entry(1, { method: "POST" }), created(2, "web"))
    expect(misses.map(({ request }) => request.seq)).toEqual([1, 2])
    expect(misses[1]!.differs).toEqual(["body.a is missing, expected 1", "body.b is missing, expected 2"])
  })

  it("are found where no reply was expected", async () => {
    const [answered] = await differs({ status: null }, entry(1))
    expect(answered!.differs).toEqual(["status is 200, expected no reply"])
  })
})
