import { assert, describe, it } from "@effect/vitest"
import {
  CircuitOpen,
  OutcomeUnknown,
  unprovedList,
  RateLimited,
  StateUnavailable,
  StatusNotReached,
  TimedOut,
  UnexpectedResponse,
  WouldExceedDeadline
} from "../../src/domain/ErrorReason.ts"
import { NodeId } from "../../src/domain/Node.ts"
import type { NodeStatus } from "../../src/domain/NodeStatus.ts"

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
      assert.strictEqual(message, `The call exceeded its deadline of ${text}.`)
    })
  }

  it("states both the wait and the time left", () => {
    assert.strictEqual(
      new WouldExceedDeadline({ predictedMillis: 1200, leftMillis: 300, heldBack: null }).message,
      "Too little is left of the rate limit: this call may go in 1.2 s, and its deadline is in 300 ms."
    )
  })

  it.each([
    [9, 12, "9 requests are left, and the last 12 of the rate limit are kept"],
    [1, 1, "1 request is left, and the last of the rate limit is kept"]
  ])("states how many are left to others: %i of %i", (remaining, kept, begin) => {
    assert.strictEqual(
      new WouldExceedDeadline({ predictedMillis: 1_860_000, leftMillis: 5000, heldBack: { remaining, kept } }).message,
      `${begin} for interactive reads: this call may go in 31 min, and its deadline is in 5 s.`
    )
  })

  it("is followed by when to try again, where that is known", () => {
    const hints = [
      new WouldExceedDeadline({ predictedMillis: 2_040_000, leftMillis: 300, heldBack: null }),
      new RateLimited({ retryAfterMillis: 2_040_000 }),
      new RateLimited({ retryAfterMillis: null }),
      new CircuitOpen({ retryAfterMillis: 4000 }),
      new CircuitOpen({ retryAfterMillis: null })
    ].map(({ hint }) => hint)
    assert.deepStrictEqual(hints, [
      "Try again in 34 min.",
      "Try again in 34 min; other clients on the same API key spend the same allowance.",
      "Try again in a minute; other clients on the same API key spend the same allowance.",
      "Try again in 4 s; the first call then tests whether the service has recovered.",
      "Try again in a few seconds."
    ])
  })

  it("is followed by the bound to raise where a reply was too long, and else by the base URL", () => {
    const hint = (expected: string) => new UnexpectedResponse({ status: 200, path: "", expected, excerpt: "x" }).hint
    assert.include(hint("the end of the list within 10 nodes (maxNodes) and 1001 pages"), "Raise maxNodes")
    assert.include(hint("a body of at most 2 bytes (maxBodyBytes)"), "Raise maxBodyBytes")
    assert.include(hint("JSON"), "base URL")
  })

  it("names the file and the fault where state cannot be kept, and whether that may pass", () => {
    const told = (path: string | null, code: string | null, detail: string) => {
      const { message, retryable } = new StateUnavailable({ path, code, detail })
      return [message, retryable]
    }
    assert.deepStrictEqual(
      [
        told("/state", "EMFILE", "EMFILE: too many open files"),
        told("/state", "EROFS", "EROFS: read-only file system"),
        told("/state", "EIO", "EIO: i/o error, write"),
        told("/state/job.json", null, "/state/job.json is damaged, or not Berth's"),
        told(null, null, "there is no state folder: HOME is not set")
      ],
      [
        ["The state of this account cannot be kept in /state: this process has too many files open (EMFILE).", true],
        ["The state of this account cannot be kept in /state: the file system is read-only (EROFS).", false],
        ["The state of this account cannot be kept in /state: EIO: i/o error, write.", false],
        ["The state of this account cannot be kept: /state/job.json is damaged, or not Berth's.", false],
        ["The state of this account cannot be kept: there is no state folder: HOME is not set.", false]
      ]
    )
  })

  it("is one sentence for a create whose outcome is unknown", () => {
    const unknown = (detail: string) =>
      new OutcomeUnknown({
        nodeName: "web",
        candidates: [],
        toldId: null,
        difference: null,
        listRead: true,
        listFault: null,
        because: "Unreachable",
        detail,
        keyed: false
      }).message
    assert.strictEqual(
      unknown("The service could not be reached: ECONNRESET."),
      "Could not find out whether web was created: no new node of that name is listed, and the service could not be reached: ECONNRESET."
    )
    assert.strictEqual(
      unknown("DNS failed"),
      "Could not find out whether web was created: no new node of that name is listed, and DNS failed."
    )
  })

  it("says for such a create if the list may lack its node, and where to look", () => {
    const unknown = (keyed: boolean) =>
      new OutcomeUnknown({
        nodeName: "web",
        candidates: [],
        toldId: null,
        difference: null,
        listRead: true,
        listFault: unprovedList,
        because: "Unreachable",
        detail: "DNS failed",
        keyed
      })
    assert.strictEqual(
      unknown(true).message,
      "Could not find out whether web was created: the list may be incomplete, and DNS failed."
    )
    assert.deepStrictEqual(
      [unknown(true).hint, unknown(false).hint],
      [
        "Look for web in the service's console. If it is not there, create it with another key.",
        "Look for web in the service's console. If it is not there, create it again."
      ]
    )
  })

  it("is one sentence for a wait whose reads failed", () => {
    const notReached = (failure: string | null) =>
      new StatusNotReached({
        nodeId: NodeId.make(7),
        wanted: "running",
        last: { unknown: "not read yet" },
        seen: [],
        impossible: false,
        waitedMillis: 1000,
        failure,
        refillsInMillis: null
      }).message
    assert.strictEqual(
      notReached("The service did not answer within 300 ms."),
      "Timed out after 1 s: node 7 is not read yet, expected running; the last read failed: the service did not answer within 300 ms."
    )
    assert.strictEqual(notReached(null), "Timed out after 1 s: node 7 is not read yet, expected running.")
  })

  it("is one sentence for a wait on a node whose status is not stated", () => {
    const notReached = (seen: ReadonlyArray<NodeStatus>) =>
      new StatusNotReached({
        nodeId: NodeId.make(7),
        wanted: "running",
        last: seen.at(-1)!,
        seen,
        impossible: false,
        waitedMillis: 5000,
        failure: null,
        refillsInMillis: null
      }).message
    assert.strictEqual(
      notReached([{ unknown: "" }]),
      "Timed out after 5 s: node 7 has no stated status, expected running."
    )
    assert.strictEqual(
      notReached([{ unknown: "" }, "created"]),
      "Timed out after 5 s: node 7 is created (it was not stated), expected running."
    )
  })

  it("states when the allowance refills, for a wait that ends before it", () => {
    const { exit, hint, message } = new StatusNotReached({
      nodeId: NodeId.make(7),
      wanted: "running",
      last: "created",
      seen: ["created"],
      impossible: false,
      waitedMillis: 0,
      failure: null,
      refillsInMillis: 2_040_000
    })
    assert.strictEqual(exit, "rateLimited")
    assert.strictEqual(
      message,
      "Too little is left of the rate limit: the next read may go in 34 min, after the end of this wait; node 7 is created, expected running."
    )
    assert.strictEqual(hint, "Wait again in 34 min, or with a longer timeout than that; the wait changed nothing.")
  })

  it("names the statuses before one that cannot become the expected one", () => {
    const reason = new StatusNotReached({
      nodeId: NodeId.make(7),
      wanted: "running",
      last: "terminate",
      seen: ["created", "running", "terminate"],
      impossible: true,
      waitedMillis: 4000,
      failure: null,
      refillsInMillis: null
    })
    assert.strictEqual(
      reason.message,
      "Node 7 is terminate (it was created, then running), which cannot become running."
    )
  })
})
