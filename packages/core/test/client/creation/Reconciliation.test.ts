import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { besideOf, createReplyFault, resolve, specDigest } from "../../../src/client/creation/Reconciliation.ts"
import { RecordFault } from "../../../src/api/fields/RecordReader.ts"
import type { NodeSpec } from "../../../src/domain/NodeSpec.ts"
import type { Instant, Intent, SentIntent } from "../../../src/client/creation/IntentStore.ts"
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
      { ...spec, label: undefined },
      { ...spec, extra: {} }
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
      { securityGroupId: 1 },
      { commitmentSetting: "auto_renew" },
      { disk: 100 },
      { extra: { a: 1 } },
      { extra: { a: 2 } }
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

/** A node that the intent made, with the fields of `over` changed. */
const node = (id: number, over: Partial<Node> = {}): Node =>
  someNode(id, { name: "web", status: "created", createdAt: DateTime.makeUnsafe(sentAt + 300), plan: "P", ...over })

/** The instant `millis` after the send, by the service's clock. */
const after = (millis: number): Instant => ({ ...intent.sentAt, serviceMillis: sentAt + millis })

const resolved = (newer: ReadonlyArray<Node>, over: Partial<Parameters<typeof resolve>[0]> = {}) =>
  resolve({
    intent,
    newer,
    isWhole: true,
    now: after(1000),
    claimed: new Map(),
    toldToOthers: new Set(),
    beside: { lost: [], underWay: new Map() },
    ...over
  })

describe("a create whose reply is lost", () => {
  it("is undecided without candidates if the list that lacks its node may not show every node", () => {
    assert.deepStrictEqual(resolved([]), { _tag: "Absent" })
    assert.deepStrictEqual(resolved([], { isWhole: false }), { _tag: "Undecided", candidates: [] })
    assert.deepStrictEqual(resolved([node(101)], { isWhole: false }), { _tag: "Found", node: node(101) })
  })

  it("has not certainly made a node without a date in a list that may not show every node: it may be older, and shown only now", () => {
    const undated = node(101, { createdAt: null })
    assert.deepStrictEqual(resolved([undated]), { _tag: "Found", node: undated })
    assert.deepStrictEqual(resolved([undated], { isWhole: false }), { _tag: "Undecided", candidates: [undated] })
  })

  it("has made a newer node that is alike", () => {
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
    ["another plan", node(101, { plan: "Q" })],
    ["another image", node(101, { image: "Debian-12" })],
    ["an earlier birth", node(101, { createdAt: DateTime.makeUnsafe(sentAt - 60_000) })]
  ] as const) {
    it(`is not taken to have made a node with ${what}, nor to have made none`, () => {
      assert.deepStrictEqual(resolved([other]), { _tag: "Undecided", candidates: [other] })
    })
  }

  it("may have made a node for which the list shows neither plan nor image, or the image by its name", () => {
    assert.strictEqual(resolved([node(101, { plan: null })])._tag, "Found")
    const byNumber = { ...intent, image: "4711" }
    assert.strictEqual(resolved([node(101, { image: "Ubuntu-24.04" })], { intent: byNumber })._tag, "Found")
    assert.strictEqual(resolved([node(101, { image: "4712" })], { intent: byNumber })._tag, "Undecided")
  })

  it("may have made a node whose birth is written in whole seconds, or where nothing is known of the service's clock", () => {
    const whole = node(101, { createdAt: DateTime.makeUnsafe(sentAt - 700) })
    assert.strictEqual(resolved([whole])._tag, "Found")
    const old = node(101, { createdAt: DateTime.makeUnsafe(0) })
    const unknown = { ...intent.sentAt, bootClock: "boot", serviceMillis: 0 }
    assert.strictEqual(resolved([old], { intent: { ...intent, sentAt: unknown }, now: unknown })._tag, "Found")
  })

  it("has not made a node of another create, and has made its own known node", () => {
    assert.strictEqual(resolved([node(101)], { claimed: new Map([[NodeId.make(101), "theirs"]]) })._tag, "Absent")
    const claimed = new Map([[NodeId.make(102), "ours"]])
    assert.deepStrictEqual(resolved([node(101), node(102)], { claimed }), { _tag: "Found", node: node(102) })
  })

  const another = (over: Partial<SentIntent> = {}): SentIntent => ({ ...intent, key: "theirs", ...over })
  const lost = (...lost: ReadonlyArray<SentIntent>) => ({ beside: { lost, underWay: new Map() } })
  const underWay = (other: SentIntent) => ({ beside: { lost: [], underWay: new Map([[other.key, other]]) } })

  it("is one of as many as were lost, and is not guessed where there are more", () => {
    assert.deepStrictEqual(resolved([node(102), node(101)], lost(another())), { _tag: "Found", node: node(101) })
    assert.strictEqual(resolved([node(102), node(101)])._tag, "Ambiguous")
    // The other create was sent when both nodes existed.
    assert.strictEqual(resolved([node(102), node(101)], lost(another({ newerThan: 102 })))._tag, "Ambiguous")
    assert.strictEqual(resolved([node(102), node(101)], lost(another({ newerThan: 101 })))._tag, "Found")
  })

  it("is not judged while creates alike are under way, to one of which the node may belong", () => {
    assert.deepStrictEqual(resolved([node(101)], underWay(another())), { _tag: "Undecided", candidates: [node(101)] })
    assert.strictEqual(resolved([], underWay(another()))._tag, "Absent")
    assert.strictEqual(resolved([node(101)], underWay(another({ newerThan: 101 })))._tag, "Found")
  })

  it("is not judged if a create of another spec that looks alike is lost, too", () => {
    for (const over of [{ spec: "T" }, { name: "WEB", spec: "T" }]) {
      assert.deepStrictEqual(resolved([node(101)], lost(another(over))), {
        _tag: "Undecided",
        candidates: [node(101)]
      })
    }
    for (const over of [{ plan: "Q" }, { image: "Debian-12" }]) {
      const whole = node(101, { image: intent.image })
      assert.strictEqual(resolved([whole], lost(another({ spec: "T", ...over })))._tag, "Found")
    }
  })
})

describe("a node with the name of a create, made late", () => {
  const made = (millis: number, over: Partial<Node> = {}) =>
    node(101, { createdAt: DateTime.makeUnsafe(sentAt + millis), ...over })
  const minute = 60_000

  it("is not its own, and leaves it without a node, if it was made when the request could not be processed any more", () => {
    for (const created of [633_000, 11 * minute, 1500 * minute]) {
      assert.strictEqual(resolved([made(created)], { now: after(1600 * minute) })._tag, "Absent")
    }
    assert.strictEqual(resolved([made(631_000)], { now: after(1600 * minute) })._tag, "Found")
  })

  it("does not hide the one that was made in time", () => {
    const late = { ...made(700_000), id: NodeId.make(102) }
    assert.deepStrictEqual(resolved([late, made(5000)], { now: after(800_000) }), { _tag: "Found", node: made(5000) })
  })

  it("is not its own by the clock of the boot alone, which stands still while the machine sleeps", () => {
    assert.strictEqual(resolved([made(15 * minute)], { now: after(20_000) })._tag, "Undecided")
  })

  it("is neither its own nor another's if its time is still to come, so that the clocks disagree", () => {
    assert.strictEqual(resolved([made(330 * minute)], { now: after(12 * minute) })._tag, "Undecided")
  })

  it("stays a candidate when that time has come, if a call has seen it before", () => {
    const node = made(15 * minute)
    const now = after(20 * minute)
    assert.strictEqual(resolved([node], { now })._tag, "Absent")
    assert.strictEqual(resolved([node], { now, intent: { ...intent, seen: [node.id] } })._tag, "Undecided")
  })

  it("is not its own if another node was a candidate too, and is deleted or has another name by now", () => {
    const doubted = { ...intent, seen: [NodeId.make(101), NodeId.make(102)] }
    const [first, second] = [made(5000), { ...made(5000), id: NodeId.make(102) }]
    const resolution = (nodes: ReadonlyArray<Node>, over: object = {}) =>
      resolved(nodes, { now: after(20_000), intent: doubted, ...over })
    assert.deepStrictEqual(resolution([second]), { _tag: "Undecided", candidates: [second] })
    const renamed = { ...first, name: "theirs" }
    assert.deepStrictEqual(resolution([renamed, second]), { _tag: "Undecided", candidates: [renamed, second] })
    // This does not hold if the other node is known to belong to another create.
    const claimed = new Map([[first.id, "another"]])
    assert.deepStrictEqual(resolution([first, second], { claimed }), { _tag: "Found", node: second })
    assert.strictEqual(resolution([])._tag, "Absent")
  })

  it("is neither its own nor another's if the send is not known by the service's clock, unless the list was read in time", () => {
    const unknown = { ...intent, sentAt: { ...intent.sentAt, bootClock: "boot", serviceMillis: 0 } }
    const now = (millis: number, over: Partial<Instant> = {}): Instant => ({
      ...unknown.sentAt,
      bootMillis: millis,
      ...over
    })
    const look = (created: number, at: Instant) => resolved([made(created)], { intent: unknown, now: at })._tag
    assert.strictEqual(look(11 * minute, now(20_000)), "Found")
    assert.strictEqual(look(5000, now(12 * minute)), "Undecided")
    assert.strictEqual(look(11 * minute, now(12 * minute)), "Undecided")
    assert.strictEqual(look(5000, now(0, { bootClock: "next" })), "Undecided")
    // The service's clock is known now, and the time of the send is calculated from it.
    const known = now(12 * minute, { serviceMillis: sentAt + 12 * minute })
    assert.strictEqual(look(5000, known), "Found")
    assert.strictEqual(look(11 * minute, known), "Absent")
    assert.strictEqual(look(-11 * minute, known), "Undecided")
  })
})

describe("a create whose node the service spells otherwise", () => {
  it("has made that node", () => {
    const { id } = node(101)
    for (const name of ["Web", " web", "WEB  "]) {
      assert.strictEqual(resolved([{ ...node(id), name }])._tag, "Found", name)
    }
    const other = node(101, { plan: " p", image: "ubuntu 24.04" })
    assert.strictEqual(resolved([other])._tag, "Found")
  })

  it("has made the node with the requested spelling, if both exist", () => {
    const other = node(102, { name: "WEB" })
    assert.deepStrictEqual(resolved([other, node(101)]), { _tag: "Found", node: node(101) })
  })
})

describe("a create whose reply named a node that differs", () => {
  const told = { ...intent, told: { id: NodeId.make(101), difference: "the name db instead of web" } }
  const late = { intent: told, now: after(86_400_000) }

  it("is never judged to have made no node", () => {
    assert.deepStrictEqual(resolved([], late), { _tag: "Undecided", candidates: [] })
    const db = node(101, { name: "db" })
    assert.deepStrictEqual(resolved([db], late), { _tag: "Undecided", candidates: [db] })
  })

  it("takes no other, and takes that one once it is listed as asked for", () => {
    assert.strictEqual(resolved([node(101, { name: "db" }), node(102)], late)._tag, "Undecided")
    assert.strictEqual(resolved([node(102)], late)._tag, "Undecided")
    assert.deepStrictEqual(resolved([node(102), node(101)], late), { _tag: "Found", node: node(101) })
  })

  it("keeps other creates from claiming its node", () => {
    assert.deepStrictEqual(resolved([node(101)], { toldToOthers: new Set([NodeId.make(101)]) }), {
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
    const { lost, underWay } = besideOf(ours, [ours, other(over)], new Map(), at(1_050_000))
    return { lost: lost.length, underWay: underWay.size }
  }

  it("are lost, or under way", () => {
    const sentAt = at(990_000)
    assert.deepStrictEqual(beside({ sentAt }), { lost: 1, underWay: 0 })
    assert.deepStrictEqual(beside({ sentAt, fate: "reported", name: "WEB" }), { lost: 1, underWay: 0 })
    assert.deepStrictEqual(beside({ sentAt, fate: "open" }), { lost: 0, underWay: 1 })
  })

  it("do not count if they have a node, another name, or were sent so long before that nothing new is theirs", () => {
    const none = { lost: 0, underWay: 0 }
    assert.deepStrictEqual(beside({ sentAt: at(990_000), nodeId: NodeId.make(101) }), none)
    assert.deepStrictEqual(beside({ sentAt: at(990_000), name: "db" }), none)
    assert.deepStrictEqual(beside({ sentAt: at(370_000) }), none)
    assert.strictEqual(beside({ sentAt: at(370_001) }).lost, 1)
  })
})

describe("the reply to a create", () => {
  const request = { name: "web", plan: "P", newerThan: 100 }
  const faultIn = (over: Partial<Node>, id = 101, isOthers = false) =>
    createReplyFault(request, { region: "ncr", location: undefined }, isOthers, node(id, over))
  const fault = (over: Partial<Node>, id?: number, isOthers?: boolean) => faultIn(over, id, isOthers)?.fault.path

  it("is believed if it names a new node that shows what was asked for, in any spelling, or leaves it out", () => {
    for (const over of [{}, { name: " Web" }, { plan: null }, { plan: "p " }, { region: "NCR" }, { image: "I" }]) {
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

  it("tells of a new node also if only its id can be read", () => {
    const fault = new RecordFault("created_at", "an ISO 8601 timestamp", null)
    const unread = (id: number) =>
      createReplyFault(request, { region: "ncr", location: undefined }, false, { id: NodeId.make(id), fault })
    assert.deepStrictEqual(unread(101), {
      fault,
      told: { id: NodeId.make(101), difference: "no created_at that can be read" }
    })
    assert.isUndefined(unread(100)?.told)
  })

  it("tells of a new node also if that differs, and how", () => {
    assert.deepStrictEqual(faultIn({ name: "db" })?.told, {
      id: NodeId.make(101),
      difference: "the name db instead of web"
    })
    assert.deepInclude(faultIn({ plan: "Q" })?.told, { difference: "the plan Q instead of P" })
    assert.deepInclude(faultIn({ region: "lon" })?.told, { difference: "the region lon instead of ncr" })
    assert.isUndefined(faultIn({ name: "db" }, 100)?.told)
    assert.isUndefined(faultIn({ name: "db" }, 101, true)?.told)
  })
})
