import { describe, expect, it } from "@effect/vitest"
import { threadCpuMillis } from "@berthkit/testing/threadCpu"
import { Effect, Result, Schema } from "effect"
import { Expectation, type ExpectedCall } from "../../src/journal/ExpectedCall.ts"
import { Journal } from "../../src/journal/Journals.ts"
import type { JournalEntry } from "../../src/journal/JournalEntry.ts"
import { verify } from "../../src/journal/verify.ts"
import { created, entry, judgeOf } from "./verdicts.ts"

const journal = [
  entry(1),
  created(2, "web"),
  created(3, "db", 422),
  entry(4, {
    query: { page_no: "2" },
    headers: { "x-trace": "run-1", authorization: "<redacted>" },
    faults: ["list-shifts"],
    status: null
  })
]

const judge = judgeOf(journal)

describe("what is expected of a journal", () => {
  it("a query in the path has a hint where it belongs", async () => {
    const path = "/myaccount/api/v1/nodes/?per_page=50"
    const { message } = await judge({ expected: [{ path }] }, [entry(2, { query: { per_page: "50" } })])
    expect(message).toContain("a query is expected under query, not in the path")
  })

  it.each<[ExpectedCall, boolean]>([
    [{ operation: "nodes.list" }, true],
    [{ operation: "nodes.delete" }, false],
    [{ method: "POST", status: 422 }, true],
    [{ method: "post", status: 422 }, true],
    [{ path: "/myaccount/*/nodes/" }, true],
    [{ path: "/nodes/" }, false],
    [{ query: { page_no: "?" } }, true],
    [{ headers: { "X-Trace": "run-*", authorization: "<redacted>" } }, true],
    [{ headers: { "x-trace": "other-*" } }, false],
    [{ headers: { "x-tracing": "*" } }, false],
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
  ])("%j: %s", async (call, found) => {
    expect((await judge({ expected: [call] })).ok).toBe(found)
  })

  it("too many are a mismatch without near misses", async () => {
    const { mismatches } = await judge({ expected: [{ method: "GET", count: 1 }] })
    expect(mismatches).toMatchObject([{ wanted: "exactly 1", found: 2, nearMisses: [] }])
  })

  it("if no other calls are allowed, they are named", async () => {
    const verdict = await judge({ expected: [{ operation: "nodes.list", count: 2 }], noOthers: true })
    expect([verdict.ok, verdict.mismatches, verdict.others.map(({ seq }) => seq)]).toEqual([false, [], [2, 3]])
  })

  it("an empty journal, and no expectations, are no trouble", async () => {
    const ok = { ok: true, message: "Every expected call was made.", mismatches: [], others: [] }
    expect(await judge({ expected: [] }, [])).toEqual(ok)
    expect(await judge({ expected: [{}] }, [])).toMatchObject({ ok: false, mismatches: [{ found: 0, nearMisses: [] }] })
  })

  it("a key that every object has is no field of a body", async () => {
    expect((await judge({ expected: [{ body: { constructor: {} } }] })).ok).toBe(false)
    expect((await judge({ expected: [{ query: { toString: "*" } }] })).ok).toBe(false)
  })
})

describe("the order of expected calls", () => {
  const inOrder = (...expected: ReadonlyArray<ExpectedCall>) => judge({ expected, inOrder: true })
  const list: ExpectedCall = { operation: "nodes.list" }
  const create: ExpectedCall = { operation: "nodes.create" }

  it("counts with others between them, and the same call may be expected again", async () => {
    expect((await inOrder(list, create, list)).ok).toBe(true)
    expect((await inOrder(create, list)).ok).toBe(true)
    expect((await inOrder({ ...create, count: 2 }, list)).ok).toBe(true)
    expect((await inOrder({ status: 202 }, { status: 422 })).ok).toBe(true)
  })

  it("does not matter to a call that need not come", async () => {
    expect((await inOrder(list, { operation: "nodes.delete", count: 0 }, { ...create, atMost: 5 })).ok).toBe(true)
  })

  it("is a mismatch if a call came too early, which is shown", async () => {
    const { message, mismatches, ok } = await inOrder({ status: 422 }, { status: 202 })
    expect(ok).toBe(false)
    expect(mismatches).toMatchObject([{ wanted: "at least 1 after request 3", found: 0 }])
    expect(message.split("\n")).toEqual([
      "Expected any request with status 202: at least 1 after request 3, found 0.",
      "  Nearest request 2, POST /myaccount/api/v1/nodes/ → 202: request 2 came too early, expected after request 3."
    ])
    expect(await inOrder(create, create, create)).toMatchObject({
      ok: false,
      mismatches: [{ wanted: "at least 3", found: 2 }]
    })
  })
})

describe("the request that a person would name first", () => {
  const path = "/myaccount/api/v1"
  const nearest = async (expected: ExpectedCall, entries: ReadonlyArray<JournalEntry>) => {
    const [first] = (await judge({ expected: [expected] }, entries)).mismatches[0]!.nearMisses
    return [first!.request.seq, ...first!.differs]
  }
  const others = [
    entry(1, { path: `${path}/images/`, operation: "images.list" }),
    entry(2, { method: "DELETE", path: `${path}/nodes/97898/`, operation: "nodes.delete", status: 204 }),
    created(3, "api")
  ]

  it.each<[string, ExpectedCall, JournalEntry, string]>([
    [
      "its path is mistyped",
      { method: "GET", path: `${path}/nodes/` },
      entry(9, { path: `${path}/ndoes/`, operation: null, status: 404 }),
      `path is ${path}/ndoes/, expected ${path}/nodes/`
    ],
    [
      "its path is mistyped where an operation is expected",
      { operation: "nodes.list" },
      entry(9, { path: `${path}/node/`, operation: null, status: 404 }),
      `operation is none (GET ${path}/node/), expected nodes.list`
    ],
    [
      "its method is another",
      { method: "PUT", path: `${path}/nodes/5/` },
      entry(9, { method: "GET", path: `${path}/nodes/5/`, operation: "nodes.get" }),
      "method is GET, expected PUT"
    ],
    [
      "the name of a parameter is mistyped",
      { operation: "nodes.list", query: { per_page: "5" } },
      entry(9, { query: { per_pgae: "5" } }),
      'query per_page is missing, expected "5"; there is per_pgae'
    ],
    [
      "a header has another value",
      { operation: "nodes.list", headers: { "X-Trace": "run-2" } },
      entry(9, { headers: { "x-trace": "run-3" } }),
      'header x-trace is "run-3", expected "run-2"'
    ],
    [
      "the value of a parameter is mistyped",
      { operation: "images.list", query: { os: "Ubuntu", version: "24.04" } },
      entry(9, { path: `${path}/images/`, operation: "images.list", query: { os: "Ubunut", version: "24.04" } }),
      'query os is "Ubunut", expected "Ubuntu"'
    ],
    [
      "a field deep in its body is another",
      { method: "POST", body: { name: "web", tags: ["a", { b: 2 }] } },
      created(9, "web"),
      "body.tags.1.b is 1, expected 2"
    ],
    [
      "it was answered otherwise",
      { operation: "nodes.create", body: { name: "db" }, status: 202 },
      created(9, "db", 422),
      "status is 422, expected 202"
    ],
    [
      "it had no reply",
      { operation: "nodes.list", status: 200 },
      entry(9, { status: null }),
      "there was no reply, expected status 200"
    ],
    [
      "no fault fired",
      { operation: "nodes.list", faults: ["hang"] },
      entry(9, { faults: ["latency"] }),
      "fault hang did not fire"
    ]
  ])("is first where %s", async (_, expected, wanted, difference) => {
    expect(await nearest(expected, [...others, wanted])).toEqual([9, difference])
  })

  it.each<[string, ExpectedCall, ReadonlyArray<JournalEntry>, string]>([
    [
      "was answered otherwise, and one is another operation",
      { operation: "nodes.get", status: 200 },
      [entry(8), entry(9, { path: `${path}/nodes/1/`, operation: "nodes.get", status: 404 })],
      "status is 404, expected 200"
    ]
  ])("is first where one %s", async (_, expected, entries, difference) => {
    expect((await nearest(expected, entries)).slice(0, 2)).toEqual([9, difference])
  })

  it("is shown beside the call as it was given", async () => {
    const { message } = await judge({ expected: [{ query: { page_no: "2?*", per_page: "5 0" } }] })
    expect(message.split("\n")[0]).toBe(
      "Expected any request with query page_no=2?*&per_page=5 0: at least 1, found 0."
    )
  })

  it("is the one that differs in the fewest fields, and of several the one whose reply differs less", async () => {
    const call = { operation: "nodes.create", body: { name: "web", tags: ["a", { b: 1 }] }, status: 202 } as const
    const misses = async (...more: ReadonlyArray<JournalEntry>) => {
      const { nearMisses } = (await judge({ expected: [call] }, [...others, ...more])).mismatches[0]!
      return nearMisses.map(({ differs, request }) => [request.seq, ...differs])
    }
    const [name, status] = ['body.name is "wbe", expected "web"', "status is 422, expected 202"]
    expect(await misses(created(8, "wbe", 422), created(9, "wbe"))).toEqual([
      [3, 'body.name is "api", expected "web"'],
      [9, name],
      [8, name, status]
    ])
    expect(await misses(created(8, "wbe"), created(9, "web", 422))).toEqual([[9, status]])
  })

  it("is found in time: long bodies and paths, a thousand requests, and many calls", async () => {
    const long = (seq: number) => `${"x".repeat(500)}${seq}${"y".repeat(1_500)}`
    const many = Array.from({ length: 1000 }, (_, seq) =>
      entry(seq, { path: `/${long(seq)}`, body: JSON.stringify({ name: long(seq) }), query: { q: long(seq) } })
    )
    const call: ExpectedCall = { path: `/${"z".repeat(1000)}`, body: { name: `z${long(1)}z` }, query: { q: "z" } }
    const began = threadCpuMillis()
    const { mismatches } = await judge({ expected: [call] }, many)
    expect(mismatches[0]!.nearMisses.length).toBe(3)
    for (const { differs } of mismatches[0]!.nearMisses) {
      expect(differs.every((sentence) => sentence.length < 300)).toBe(true)
    }
    expect(threadCpuMillis() - began).toBeLessThan(1_000)
  })
})

const unknown =
  "2 older requests are no longer kept, so it is unknown what they were: " +
  "forget the journal at the start of the test, with DELETE …/requests."

describe("calls that are expected more than once", () => {
  it.each<[ReadonlyArray<ExpectedCall>, string | undefined]>([
    [[{ method: "POST" }, { method: "post" }], undefined],
    [[{ method: "POST" }, { method: "POST" }, { method: "post" }], "at least 3"],
    [
      [
        { method: "POST", count: 1 },
        { method: "POST", count: 1 }
      ],
      undefined
    ],
    [
      [
        { method: "GET", status: 200 },
        { status: 200, method: "GET" }
      ],
      "at least 2"
    ],
    [[{ method: "POST", count: 1 }, { method: "POST" }, { method: "POST", atLeast: 2 }], "at least 4"],
    [[{ body: { name: "web", tags: ["a", { b: 1 }] } }, { body: { tags: ["a", { b: 1 }], name: "web" } }], "at least 2"]
  ])("add their counts: %j", async (expected, wanted) => {
    for (const inOrder of [false, true]) {
      const { mismatches } = await judge({ expected, inOrder })
      expect(mismatches.map((mismatch) => mismatch.wanted)).toEqual(wanted === undefined ? [] : [wanted])
    }
  })

  it("may each have an exact count of the whole journal, even in order", async () => {
    const [list, create]: Array<ExpectedCall> = [
      { operation: "nodes.list", count: 1 },
      { operation: "nodes.create", count: 2 }
    ]
    expect((await judge({ expected: [list!, create!, list!], inOrder: true, noOthers: true })).ok).toBe(true)
    const { mismatches } = await judge({ expected: [list!, create!], inOrder: true })
    expect(mismatches).toMatchObject([{ wanted: "exactly 1", found: 2 }])
  })
})

describe("a journal that no longer has its oldest requests", () => {
  it.each<[Expectation, boolean]>([
    [{ expected: [{ operation: "nodes.delete", count: 0 }] }, false],
    [{ expected: [{ operation: "nodes.create", count: 2 }] }, false],
    [{ expected: [{ operation: "nodes.create", atMost: 5 }] }, false],
    [{ expected: [{}], noOthers: true }, false],
    [{ expected: [{ operation: "nodes.create", atLeast: 2 }] }, true]
  ])("is not reported as expected where that cannot be known: %j", async (expectation, ok) => {
    expect((await judge(expectation)).ok).toBe(true)
    const verdict = await judge(expectation, journal, 2)
    expect([verdict.ok, verdict.message]).toEqual([ok, ok ? "Every expected call was made." : unknown])
  })

  it("counts the entries that its bounds removed, not those that were cleared", () => {
    const requests = new Journal()
    const record = () =>
      requests.record(
        {
          at: 0,
          durationMillis: 0,
          method: "GET",
          url: "/",
          headers: {},
          body: undefined,
          status: 200,
          replyHeaders: {},
          replyBytes: undefined,
          replyBody: undefined,
          faults: []
        },
        1
      )
    for (let count = 0; count < 1002; count++) record()
    expect(requests.dropped).toBe(2)
    requests.clear()
    record()
    expect(requests.dropped).toBe(0)
    requests.dropOldest()
    expect(requests.dropped).toBe(1)
  })
})

describe("the cost of an expectation", () => {
  const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`name${n}`, "*"]))

  it.each<[ExpectedCall, ExpectedCall, string]>([
    [{ query: names(50) }, { query: names(51) }, "query"],
    [{ faults: Object.keys(names(50)) }, { faults: Object.keys(names(51)) }, "faults"],
    [{ body: names(199) }, { body: names(200) }, "body"],
    [{ body: { list: [names(197)] } }, { body: { list: [names(198)] } }, "body"],
    [{ body: { a: "x".repeat(4_095) } }, { body: { a: "x".repeat(4_096) } }, "body"],
    [{ body: [{ ["x".repeat(4_095)]: "x" }] }, { body: [{ ["x".repeat(4_096)]: "x" }] }, "body"],
    [{ query: { ["x".repeat(1_024)]: "" } }, { query: { ["x".repeat(1_025)]: "" } }, "query"],
    [{ faults: ["x".repeat(1_024)] }, { faults: ["x".repeat(1_025)] }, "faults"],
    [{ path: "*".repeat(1_024) }, { path: "*".repeat(1_025) }, "path"],
    [{ method: "propfind" }, { method: "PROPFOUND" }, "method"]
  ])("is bounded by what one call may name", (within, beyond, field) => {
    const decode = Schema.decodeUnknownResult(Expectation)
    expect(Result.isSuccess(decode({ expected: [{}, within] }))).toBe(true)
    const refused = decode({ expected: [{}, beyond] })
    expect(Result.isFailure(refused) && String(refused.failure)).toContain(`["expected"][1]["${field}"]`)
  })

  it("is bounded by what all patterns and all requests have, which the failure states", async () => {
    const many = Array.from({ length: 500 }, (_, seq) => entry(seq, { path: `/${"a".repeat(8_000)}` }))
    const expected = Array.from({ length: 10 }, (_, n) => ({ path: `*${"a".repeat(900)}${n}*`, count: 0 }))
    const sentence = await Effect.runPromise(Effect.flip(verify(many, { expected })))
    expect(sentence).toMatch(/^The patterns of 10 calls and the texts of 500 requests are too long to be compared: /)
    // A path without a pattern costs almost nothing.
    const plain = Array.from({ length: 20 }, (_, n) => ({ path: `/${"a".repeat(900)}${n}`, count: 0 }))
    expect((await judge({ expected: plain }, many)).ok).toBe(true)
  })

  it("does not grow with the names of a request beyond what a reader could compare", async () => {
    const long = (kind: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${n}${"abcdefgh".repeat(3)}${kind}${n}`, "*"]))
    const many = Array.from({ length: 1000 }, (_, seq) => entry(seq, { query: long("given", 50) }))
    const before = process.threadCpuUsage()
    const { mismatches } = await judge({ expected: [{ query: long("wanted", 50) }] }, many)
    const { system, user } = process.threadCpuUsage(before)
    expect(mismatches.length).toBe(1)
    // This takes a fifth of a second of processor time. Comparing each name with each other name would take half a minute.
    expect((system + user) / 1000).toBeLessThan(3_000)
  })

  it("leaves the loop to others within one call", async () => {
    const many = Array.from({ length: 1000 }, (_, seq) =>
      entry(seq, { query: names(50), body: JSON.stringify(names(50)) })
    )
    const call: ExpectedCall = { query: { ...names(49), other: "*" }, body: { ...names(49), other: 1 } }
    let turns = 0
    let isOver = false
    const count = () => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const verdict = await judge({ expected: [call] }, many)
    isOver = true
    expect(verdict.ok).toBe(false)
    expect(turns).toBeGreaterThan(50)
  })
})

describe("the message of a verdict", () => {
  it("is what a test prints", async () => {
    const { message } = await judge({
      expected: [
        { operation: "nodes.create", body: { name: "wbe" } },
        { operation: "nodes.list", query: { page_no: "2" }, count: 2 }
      ],
      noOthers: true
    })
    expect(message.split("\n")).toEqual([
      'Expected nodes.create with body {"name":"wbe"}: at least 1, found 0.',
      '  Nearest request 2, POST /myaccount/api/v1/nodes/ → 202: body.name is "web", expected "wbe".',
      '  Then request 3, POST /myaccount/api/v1/nodes/ → 422: body.name is "db", expected "wbe".',
      "Expected nodes.list with query page_no=2: exactly 2, found 1.",
      '  Nearest request 1, GET /myaccount/api/v1/nodes/ → 200: query page_no is missing, expected "2".',
      "Not expected: request 1, GET /myaccount/api/v1/nodes/ → 200.",
      "Not expected: request 2, POST /myaccount/api/v1/nodes/ → 202.",
      "Not expected: request 3, POST /myaccount/api/v1/nodes/ → 422."
    ])
  })

  it("reports that the journal no longer begins with the first request", async () => {
    const { message } = await judge({ expected: [{ operation: "nodes.delete" }] }, journal.slice(2), 2)
    expect(message.split("\n").at(-1)).toBe(unknown)
  })

  it("reports a body that is too long for the journal", async () => {
    const cut = entry(1, { method: "POST", body: '{"name":"web', bodyBytes: 5000 })
    expect((await judge({ expected: [{ body: { name: "web" } }] }, [cut])).message).toContain(
      'body is too long to compare: the journal kept only its beginning, expected {"name":"web"}'
    )
  })
})
