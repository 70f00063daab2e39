import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { readFaultFlag, readFaults } from "../../src/injection/readFaults.ts"

const errorsOf = (body: unknown) => Result.getOrThrow(Result.flip(readFaults(body)))

describe("faults as JSON", () => {
  it("the example of the specification is read as it stands", () => {
    const given = [{ fault: "status", status: 503, times: 2, scope: { operation: "nodes.list" } }]
    expect(Result.getOrThrow(readFaults(given))).toEqual(given)
  })

  it("names every fault at once, by place", () => {
    const errors = errorsOf([
      { fault: "status", status: 99, stauts: 503 },
      { fault: "nope" },
      { fault: "hang" },
      { fault: "latency", delay: "soon", times: 0, scope: { operation: "nodes.lst" } },
      { status: 1 },
      7,
      JSON.parse('{"toString":1,"__proto__":2,"times":3,"fault":"constructor"}')
    ])
    expect(Object.keys(errors).sort()).toEqual(
      [
        "0.status",
        "0.stauts",
        "1.fault",
        "3.delay",
        "3.scope.operation",
        "3.times",
        "4.fault",
        "5.fault",
        "6.fault",
        "6.toString",
        "6.__proto__"
      ].sort()
    )
    expect(errors["0.stauts"]).toEqual(["There is no such field."])
    expect(errors["1.fault"]).toEqual(['There is no fault "nope"; berth-server faults lists them.'])
    expect(errors["3.delay"]).toEqual(['Expected a duration such as 10s or "10 seconds".'])
  })

  it.each([{}, null, "status", { fault: "status" }])("%j is no list of faults", (body) => {
    expect(errorsOf(body)).toEqual({ detail: ["The body must be a JSON array of faults."] })
  })

  it("too many are refused", () => {
    expect(Object.keys(errorsOf(Array.from({ length: 101 }, () => ({ fault: "hang" }))))).toEqual(["detail"])
  })

  it("a header may be named once, whatever the case of its name", () => {
    const header = { "X-Test": "a", "x-test": "b" }
    expect(errorsOf([{ fault: "hang", scope: { header } }])).toEqual({
      "0.scope.header": ["Expected each header once: the case of a name does not count."]
    })
  })

  it("patterns of headers are bounded in all faults together, so that a request is compared with them in milliseconds", () => {
    const armed = (count: number, pattern: string) =>
      Array.from({ length: count }, () => ({ fault: "hang", scope: { header: { x: pattern, y: pattern } } }))
    const longest = `*${"a".repeat(1023)}`
    expect(Result.isSuccess(readFaults(armed(3, longest)))).toBe(true)
    expect(Object.keys(errorsOf(armed(4, longest)))).toEqual(["3.scope.header"])
    expect(Result.isSuccess(readFaults(armed(100, "web-*")))).toBe(true)
    expect(Result.isSuccess(readFaults(armed(100, "a".repeat(1024))))).toBe(true)
  })

  it.each([
    [{ fault: "list-stale", scope: { node: "web-*" } }, "nodes.create, nodes.get, nodes.delete, commitments.set"],
    [{ fault: "hang", scope: { node: "web", operation: ["nodes.list", "images.list"] } }, "nodes.create, nodes.get"],
    [{ fault: "hang", scope: { node: 5, operation: "nodes.create" } }, "nodes.get, nodes.delete, commitments.set"],
    [{ fault: "create-lost-reply", scope: { node: 5 } }, "nodes.get, nodes.delete, commitments.set"]
  ])("%j would never fire, and is refused", (fault, operations) => {
    expect(errorsOf([fault])).toEqual({ "0.scope.node": [expect.stringContaining(operations)] })
  })

  it.each([
    { fault: "hang", scope: { node: 5 } },
    { fault: "hang", scope: { node: "web", operation: ["nodes.list", "nodes.get"] } },
    { fault: "create-lost-reply", scope: { node: "web-*" } },
    { fault: "get-lags", scope: { node: 5 } }
  ])("%j may fire, and is taken", (fault) => {
    expect(Result.isSuccess(readFaults([fault]))).toBe(true)
  })

  it.each([
    { fault: "status", status: 199 },
    { fault: "status", status: 600 },
    { fault: "status", probability: 1.5 },
    { fault: "status", from: "2026-13-01T00:00:00Z" },
    { fault: "status", from: "yesterday" },
    { fault: "status", from: "2026-02-29T00:00:00Z" },
    { fault: "status", from: "2026-01-01T24:00:00Z" },
    { fault: "status", scope: { operation: ["nodes.list", "x"] } },
    { fault: "status", scope: { nodes: "web" } },
    { fault: "wrong-content-type", value: "a\r\nb" },
    { fault: "headers-missing", headers: 3 },
    { fault: "duplicate-create", scope: { operation: "nodes.list" } },
    { fault: "empty-list", scope: { operation: ["nodes.list", "nodes.get"] } },
    { fault: "truncated-body", share: 2 },
    { fault: "date-skew", by: "--5m" }
  ])("%j is refused", (fault) => {
    expect(Result.isFailure(readFaults([fault]))).toBe(true)
  })
})

describe("faults after --fault", () => {
  it.each([
    ["hang", { fault: "hang" }],
    [
      "status:status=503:times=2:operation=nodes.list",
      { fault: "status", status: 503, times: 2, scope: { operation: "nodes.list" } }
    ],
    [
      "status:envelope=false:operation=nodes.get,nodes.list",
      { fault: "status", envelope: false, scope: { operation: ["nodes.get", "nodes.list"] } }
    ],
    ["reset-mid-body:share=0.25:every=3", { fault: "reset-mid-body", share: 0.25, every: 3 }],
    [
      "status:from=2026-01-01T00:00:10Z:until=2026-01-01T00:00:20Z",
      { fault: "status", from: "2026-01-01T00:00:10Z", until: "2026-01-01T00:00:20Z" }
    ],
    ["latency:delay=10 seconds:node=web-*", { fault: "latency", delay: "10 seconds", scope: { node: "web-*" } }],
    ["status:node=12", { fault: "status", scope: { node: 12 } }],
    ["status-unknown:value=404", { fault: "status-unknown", value: "404" }],
    [
      "status:header=x-test=a*:header=x-other",
      { fault: "status", scope: { header: { "x-test": "a*", "x-other": "*" } } }
    ],
    [
      "headers-missing:headers=date,ratelimit-reset",
      { fault: "headers-missing", headers: ["date", "ratelimit-reset"] }
    ],
    ["date-skew:by=-5m", { fault: "date-skew", by: "-5m" }]
  ])("%s", (text, fault) => {
    expect(Result.getOrThrow(readFaultFlag(text))).toEqual(fault)
  })

  it.each([
    ["nope", 'There is no fault "nope"; berth-server faults lists them.'],
    ["", 'There is no fault ""; berth-server faults lists them.'],
    ["status:stauts=503", "stauts: There is no such field."],
    ["status:status=x", "status: Expected"],
    ["get-lags:operation=nodes.list", "scope.operation: The fault get-lags fires only at nodes.get."]
  ])("%j is refused in a sentence", (text, sentence) => {
    expect(Result.getOrThrow(Result.flip(readFaultFlag(text)))).toContain(sentence)
  })
})
