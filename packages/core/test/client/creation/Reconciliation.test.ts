import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { alikeOf, createReplyFault, resolve, specDigest } from "../../../src/client/creation/Reconciliation.ts"
import type { NodeSpec } from "../../../src/domain/NodeSpec.ts"
import type { Intent } from "../../../src/client/creation/IntentStore.ts"
import { type Node, NodeId } from "../../../src/domain/Node.ts"
import { someNode } from "../../someNode.ts"

const spec: NodeSpec = {
  name: "web",
  plan: "P",
  image: "I",
  tags: ["a", "b"],
  sshKeys: ["k", "l"],
  startScripts: ["x", "y"]
}

describe("the digest of a spec", () => {
  it("is the same however the same node is asked for", () => {
    const { name, ...rest } = spec
    for (const same of [
      { ...rest, name },
      { ...spec, tags: ["b", "a", "a"] },
      { ...spec, sshKeys: ["l", "k"] },
      { ...spec, region: "ncr" },
      { ...spec, label: undefined }
    ]) {
      assert.strictEqual(specDigest(same as NodeSpec), specDigest(spec))
    }
    const bare: NodeSpec = { name: "web", plan: "P", image: 4711 }
    assert.strictEqual(
      specDigest({ ...bare, image: "4711", tags: [], sshKeys: [], startScripts: [] }),
      specDigest(bare)
    )
  })

  it("differs with every field, and with the order of the scripts", () => {
    const others: ReadonlyArray<Partial<NodeSpec>> = [
      { name: "db" },
      { plan: "Q" },
      { image: "J" },
      { tags: ["a"] },
      { sshKeys: ["k"] },
      { startScripts: ["y", "x"] },
      { backups: true },
      { backups: false },
      { savedImageTemplateId: 1 },
      { committedSkuId: 1 },
      { label: "l" },
      { securityAgent: true },
      { disablePassword: true },
      { reservedIp: "1.2.3.4" },
      { ipv6: true },
      { vpcId: "v" },
      { publicIp: false },
      { containerId: 1 },
      { securityGroupId: 1 }
    ]
    const digests = [spec, ...others.map((other) => ({ ...spec, ...other }))].map(specDigest)
    assert.strictEqual(new Set(digests).size, others.length + 1)
  })

  it("shows nothing of what it was made from", () => {
    assert.match(specDigest({ ...spec, startScripts: ["export PASSWORD=hunter2"] }), /^[0-9a-f]{64}$/)
  })
})

const sentAt = 1_790_000_000_000

const intent = {
  version: 1,
  key: "ours",
  name: "web",
  plan: "P",
  image: "Ubuntu-24.04",
  spec: "S",
  newerThan: 100,
  sentAt: { wallMillis: sentAt, bootMillis: 0, bootClock: null, serviceMillis: sentAt },
  fate: "lost",
  nodeId: null
} satisfies Intent

/** A node that came of the intent, but for `over`. */
const node = (id: number, over: Partial<Node> = {}): Node =>
  someNode(id, { name: "web", status: "created", createdAt: DateTime.makeUnsafe(sentAt + 300), plan: "P", ...over })

const resolved = (newer: ReadonlyArray<Node>, over: Partial<Parameters<typeof resolve>[0]> = {}) =>
  resolve({ intent, newer, claimed: new Map(), alike: { lost: 1, isOtherLost: false, underWay: new Set() }, ...over })

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
    assert.deepStrictEqual(
      resolved([node(102), node(101)], { alike: { lost: 2, isOtherLost: false, underWay: new Set() } }),
      {
        _tag: "Found",
        node: node(101)
      }
    )
    assert.strictEqual(resolved([node(102), node(101)])._tag, "Ambiguous")
  })

  it("is not judged while creates alike are under way, to one of which the node may belong", () => {
    assert.deepStrictEqual(
      resolved([node(101)], { alike: { lost: 1, isOtherLost: false, underWay: new Set(["theirs"]) } }),
      {
        _tag: "Undecided",
        candidates: [node(101)]
      }
    )
    assert.strictEqual(
      resolved([], { alike: { lost: 1, isOtherLost: false, underWay: new Set(["theirs"]) } })._tag,
      "Absent"
    )
  })

  it("is not judged where one that looks alike and is of another spec is lost, too", () => {
    assert.deepStrictEqual(resolved([node(101)], { alike: { lost: 1, isOtherLost: true, underWay: new Set() } }), {
      _tag: "Undecided",
      candidates: [node(101)]
    })
  })
})

describe("the creates beside one", () => {
  const other = (over: Partial<Intent>): Intent => ({ ...intent, key: "theirs", ...over })
  const at = (bootMillis: number) => ({ wallMillis: 0, bootMillis, bootClock: "boot", serviceMillis: 0 })
  const ours = { ...intent, sentAt: at(1_000_000) }
  const beside = (over: Partial<Intent>) => {
    const { isOtherLost, lost, underWay } = alikeOf(ours, [ours, other(over)], new Set(), at(1_050_000))
    return { lost, isOtherLost, underWay: underWay.size }
  }

  it("count as lost where they ask for the same, and as of another spec where they only look the same", () => {
    const sentAt = at(990_000)
    assert.deepStrictEqual(beside({ sentAt }), { lost: 2, isOtherLost: false, underWay: 0 })
    assert.deepStrictEqual(beside({ sentAt, fate: "reported" }), { lost: 2, isOtherLost: false, underWay: 0 })
    assert.deepStrictEqual(beside({ sentAt, spec: "T" }), { lost: 1, isOtherLost: true, underWay: 0 })
    assert.deepStrictEqual(beside({ sentAt, fate: "open" }), { lost: 1, isOtherLost: false, underWay: 1 })
  })

  it("do not count where they have a node, look different, or were sent so long before that nothing new is theirs", () => {
    const none = { lost: 1, isOtherLost: false, underWay: 0 }
    assert.deepStrictEqual(beside({ sentAt: at(990_000), nodeId: NodeId.make(101) }), none)
    assert.deepStrictEqual(beside({ sentAt: at(990_000), plan: "Q" }), none)
    assert.deepStrictEqual(beside({ sentAt: at(370_000) }), none)
    assert.strictEqual(beside({ sentAt: at(370_001) }).lost, 2)
  })
})

describe("the reply to a create", () => {
  const request = { name: "web", plan: "P", newerThan: 100 }
  const fault = (over: Partial<Node>, id = 101, isOthers = false) =>
    createReplyFault(request, "ncr", isOthers, node(id, over))?.path

  it("is believed where it names a new node with what was asked for, or leaves it out", () => {
    for (const over of [{}, { name: " Web" }, { plan: null }, { region: "NCR" }, { image: "Ubuntu 24.04" }]) {
      assert.isUndefined(fault(over))
    }
  })

  it("is not where the node was there before, is another create's, or has another name, plan or region", () => {
    assert.strictEqual(fault({}, 100), "id")
    assert.strictEqual(fault({}, 5), "id")
    assert.strictEqual(fault({}, 101, true), "id")
    assert.strictEqual(fault({ name: "db" }), "name")
    assert.strictEqual(fault({ plan: "Q" }), "plan")
    assert.strictEqual(fault({ region: "lon" }), "region")
  })
})
