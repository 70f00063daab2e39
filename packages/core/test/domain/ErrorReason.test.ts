import { assert, describe, it } from "@effect/vitest"
import {
  CircuitOpen,
  OutcomeUnknown,
  RateLimited,
  StatusNotReached,
  TimedOut,
  UnexpectedResponse,
  WouldExceedDeadline
} from "../../src/domain/ErrorReason.ts"
import { NodeId } from "../../src/domain/Node.ts"

describe("the sentence of an error", () => {
  for (const [millis, text] of [
    [0, "0 ms"],
    [0.4, "0 ms"],
    [300, "300 ms"],
    [999.7, "1 s"],
    [1000, "1 s"],
    [1040, "1 s"],
    [1500, "1.5 s"],
    [9960, "10 s"],
    [14_600, "15 s"],
    [90_000, "90 s"],
    [119_949, "120 s"],
    [120_000, "2 min"],
    [2_030_000, "34 min"],
    [3_600_000, "1 h"],
    [7_500_000, "2 h 5 min"],
    [86_400_000, "24 h"],
    [86_400_001, "more than a day"],
    [8_204_680_380_000, "more than a day"]
  ] as const) {
    it(`writes ${millis} ms as ${text}`, () => {
      const { message } = new TimedOut({ limit: "deadline", afterMillis: millis, sent: "no" })
      assert.strictEqual(message, `The call was not done within its deadline of ${text}.`)
    })
  }

  it("tells a short wait from a shorter one", () => {
    assert.strictEqual(
      new WouldExceedDeadline({ predictedMillis: 1200, leftMillis: 300 }).message,
      "The allowance refills in 1.2 s, and the call may take only 300 ms more."
    )
  })

  it("says when to try again, where that is known", () => {
    const hints = [
      new WouldExceedDeadline({ predictedMillis: 2_040_000, leftMillis: 300 }),
      new RateLimited({ retryAfterMillis: 2_040_000 }),
      new RateLimited({ retryAfterMillis: null }),
      new CircuitOpen({ retryAfterMillis: 4000 }),
      new CircuitOpen({ retryAfterMillis: null })
    ].map(({ hint }) => hint)
    assert.deepStrictEqual(hints, [
      "Try again in 34 min.",
      "Try again in 34 min; other programs on the same API key spend the same allowance.",
      "Try again in a minute; other programs on the same API key spend the same allowance.",
      "Try again in 4 s; the first call then tries whether the service has recovered.",
      "Try again in a few seconds."
    ])
  })

  it("names the bound to raise where a reply was too much, and the base URL elsewhere", () => {
    const hint = (expected: string) => new UnexpectedResponse({ status: 200, path: "", expected, excerpt: "x" }).hint
    assert.include(hint("the end of the list within 10 nodes (maxNodes) and 1001 pages"), "Raise maxNodes")
    assert.include(hint("a body of at most 2 bytes (maxBodyBytes)"), "Raise maxBodyBytes")
    assert.include(hint("JSON"), "base URL")
  })

  it("is one, where a create's outcome is unknown too", () => {
    const unknown = (detail: string) =>
      new OutcomeUnknown({
        nodeName: "web",
        candidates: [],
        looked: true,
        because: "Unreachable",
        detail,
        keyed: false
      }).message
    assert.strictEqual(
      unknown("The service could not be reached: ECONNRESET."),
      "It is not known whether web was created, for no new node of that name is listed, and the service could not be reached: ECONNRESET."
    )
    assert.strictEqual(
      unknown("DNS failed"),
      "It is not known whether web was created, for no new node of that name is listed, and DNS failed."
    )
  })

  it("is one, where a wait saw nothing because its looks failed", () => {
    const notReached = (failure: string | null) =>
      new StatusNotReached({
        nodeId: NodeId.make(7),
        wanted: "running",
        last: { unknown: "not seen yet" },
        seen: [],
        impossible: false,
        waitedMillis: 1000,
        failure
      }).message
    assert.strictEqual(
      notReached("The service did not answer within 300 ms."),
      "After 1 s node 7 is not seen yet and not running: the service did not answer within 300 ms."
    )
    assert.strictEqual(notReached(null), "After 1 s node 7 is not seen yet and not running.")
  })
})
