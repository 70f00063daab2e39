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

  it("continues after as many requests as calls are expected", async () => {
    const { mismatches } = await judge({ expected: [{ ...list, count: 2 }, create], inOrder: true })
    expect(mismatches).toMatchObject([{ expected: create, wanted: "at least 1 after request 3", found: 0 }])
  })
})

describe("what a verdict shows", () => {
  const judge = judgeOf([])

  it("are the three nearest requests", async () => {
    const journal = [1, 2, 3, 4, 5].map((seq) => entry(seq, { query: seq === 1 ? {} : { a: "2", b: "1" } }))
    const { mismatches } = await judge({ expected: [{ ...list, query: { a: "1", b: "1" } }] }, journal)
    expect(mismatches[0]!.nearMisses.map(({ request }) => request.seq)).toEqual([2, 3, 4])
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
    expect(lines).toContain("2 more unexpected requests.")
  })
})

describe("the differences of a near miss", () => {
  const differs = async (expected: ExpectedCall, ...requests: ReadonlyArray<JournalEntry>) =>
    (await judgeOf(requests)({ expected: [expected] })).mismatches[0]!.nearMisses

  it("name a misspelt parameter only if it is similar to the missing one and was not itself expected", async () => {
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

  it("of a body that is not there are as many as it has fields", async () => {
    const body = { name: "db", tags: ["a", { b: 1 }] }
    const [first] = await differs({ body }, entry(1, { method: "POST" }), created(2, "web"))
    expect(first!.differs).toEqual(['body.name is "web", expected "db"'])
    const [none] = await differs({ body }, entry(1, { method: "POST" }))
    expect(none!.differs).toEqual(['body is missing, expected {"name":"db","tags":["a",{"b":1}]}'])
  })

  it("name a misspelt field of a body", async () => {
    const [like] = await differs({ body: { nmae: "web" } }, created(1, "web"))
    expect(like!.differs).toEqual(['body.nmae is missing, expected "web"; there is name'])
  })

  it("are found where no reply was expected", async () => {
    const [answered] = await differs({ status: null }, entry(1))
    expect(answered!.differs).toEqual(["status is 200, expected no reply"])
  })
})
