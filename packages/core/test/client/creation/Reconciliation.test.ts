import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import type { Intent } from "../../../src/client/creation/Intent.ts"
import { resolve } from "../../../src/client/creation/Reconciliation.ts"
import { type Node, NodeId } from "../../../src/domain/Node.ts"
import { someNode } from "../../someNode.ts"

const sentAt = 1_790_000_000_000

const intent = {
  version: 1,
  key: "ours",
  name: "web",
  plan: "P",
  image: "Ubuntu-24.04",
  newerThan: 100,
  sentAt: { wallMillis: sentAt, bootMillis: 0, bootClock: null, serviceMillis: sentAt },
  fate: "lost",
  nodeId: null
} satisfies Intent

/** A node that came of the intent, but for `over`. */
const node = (id: number, over: Partial<Node> = {}): Node =>
  someNode(id, { name: "web", status: "created", createdAt: DateTime.makeUnsafe(sentAt + 300), plan: "P", ...over })

const resolved = (newer: ReadonlyArray<Node>, over: Partial<Parameters<typeof resolve>[0]> = {}) =>
  resolve({ intent, newer, claimed: new Map(), alike: { lost: 1, underWay: new Set() }, ...over })

describe("a create whose reply is lost", () => {
  it("has made the node that is newer and alike", () => {
    assert.deepStrictEqual(resolved([node(99), node(101)]), { _tag: "Found", node: node(101) })
  })

  for (const [what, other] of [
    ["an id that was there before, and another name", node(100, { name: "db" })],
    ["another name", node(101, { name: "db" })]
  ] as const) {
    it(`has not made a node with ${what}`, () => {
      assert.strictEqual(resolved([other])._tag, "Absent")
    })
  }

  for (const [what, other] of [
    ["an id that was there before, where ids do not ascend", node(100)],
    ["a name spelled otherwise", node(101, { name: " Web" })],
    ["another plan", node(101, { plan: "Q" })],
    ["another image", node(101, { image: "Debian-12" })],
    ["an earlier birth", node(101, { createdAt: DateTime.makeUnsafe(sentAt - 60_000) })]
  ] as const) {
    it(`is not taken to have made a node with ${what}, nor to have made none`, () => {
      assert.deepStrictEqual(resolved([other]), { _tag: "Undecided", candidates: [other] })
    })
  }

  it("may have made a node of which the list shows neither plan nor image, or the image by its name", () => {
    assert.strictEqual(resolved([node(101, { plan: null })])._tag, "Found")
    const byNumber = { ...intent, image: "4711" }
    assert.strictEqual(resolved([node(101, { image: "Ubuntu-24.04" })], { intent: byNumber })._tag, "Found")
    assert.strictEqual(resolved([node(101, { image: "4712" })], { intent: byNumber })._tag, "Undecided")
  })

  it("may have made a node whose birth is written in whole seconds, or where nothing is known of the service's clock", () => {
    const whole = node(101, { createdAt: DateTime.makeUnsafe(sentAt - 700) })
    assert.strictEqual(resolved([whole])._tag, "Found")
    const old = node(101, { createdAt: DateTime.makeUnsafe(0) })
    assert.strictEqual(
      resolved([old], { intent: { ...intent, sentAt: { ...intent.sentAt, serviceMillis: 0 } } })._tag,
      "Found"
    )
  })

  it("has not made what belongs to another create, and has made what is known to be its own", () => {
    assert.strictEqual(resolved([node(101)], { claimed: new Map([[NodeId.make(101), "theirs"]]) })._tag, "Absent")
    const claimed = new Map([[NodeId.make(102), "ours"]])
    assert.deepStrictEqual(resolved([node(101), node(102)], { claimed }), { _tag: "Found", node: node(102) })
  })

  it("is one of as many as were lost, and is not guessed where there are more", () => {
    assert.deepStrictEqual(resolved([node(102), node(101)], { alike: { lost: 2, underWay: new Set() } }), {
      _tag: "Found",
      node: node(101)
    })
    assert.strictEqual(resolved([node(102), node(101)])._tag, "Ambiguous")
  })

  it("is not judged while creates alike are under way, to one of which the node may belong", () => {
    assert.deepStrictEqual(resolved([node(101)], { alike: { lost: 1, underWay: new Set(["theirs"]) } }), {
      _tag: "Undecided",
      candidates: [node(101)]
    })
    assert.strictEqual(resolved([], { alike: { lost: 1, underWay: new Set(["theirs"]) } })._tag, "Absent")
  })
})
