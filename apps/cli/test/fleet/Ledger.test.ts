import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { DateTime, Result } from "effect"
import { isKey } from "@berthkit/core/client/creation/Creator"
import {
  begun,
  contradictionIn,
  decodeLedger,
  encodeLedger,
  entriesOf,
  isOwned,
  type Ledger,
  keyOf,
  made,
  notMade,
  ownedOf
} from "../../src/fleet/Ledger.ts"
import { planOf } from "../../src/fleet/plan.ts"
import { Account, emptyLedger, fleetOf, groupOf, nodeOf } from "./world.ts"

const full = (count: number): Ledger => {
  const account = new Account([])
  account.carryOut(
    planOf(fleetOf(groupOf("web", count)), account.ledger, account.world, { replace: [], pick: [], isDestroy: false })
  )
  return account.ledger
}

const failureOf = (text: string) => {
  const read = decodeLedger(text)
  return Result.isFailure(read) ? read.failure : undefined
}

describe("a ledger", () => {
  it("reads back as it was written, with one line per member in their order", () => {
    const ledger = full(12)
    const text = encodeLedger(ledger)
    assert.deepStrictEqual(Result.getOrThrow(decodeLedger(text)), {
      ...ledger,
      members: new Map(entriesOf(ledger).map((entry) => [entry.member, JSON.parse(JSON.stringify(entry))]))
    })
    const lines = text.split("\n").filter((line) => line.includes('"member"'))
    assert.deepStrictEqual(
      lines.map((line) => /"member":"([\w-]+)"/.exec(line)?.[1]),
      Array.from({ length: 12 }, (_, i) => `web-${i + 1}`)
    )
    assert.strictEqual(encodeLedger(Result.getOrThrow(decodeLedger(text))), text)
  })

  it("is refused where it is damaged, whatever byte of it is", () => {
    const text = encodeLedger(full(2))
    fc.assert(
      fc.property(fc.nat({ max: text.length - 1 }), (at) => {
        const read = decodeLedger(text.slice(0, at))
        assert.isTrue(Result.isFailure(read) || at >= text.trimEnd().length)
      })
    )
  })

  it("is refused with the marks of a merge, with a member or a node twice, and of a later version", () => {
    const text = encodeLedger(full(2))
    assert.deepStrictEqual(failureOf(`<<<<<<< ours\n${text}`), {
      _tag: "Damaged",
      why: "it has the marks of a merge conflict"
    })
    assert.deepStrictEqual(failureOf(text.replace('"web-2"', '"web-1"')), {
      _tag: "Doubled",
      member: "web-1",
      ids: [1000, 1001]
    })
    assert.deepStrictEqual(failureOf(text.replaceAll(/"id":\d+/g, '"id":7')), {
      _tag: "Damaged",
      why: "node 7 is both web-1 and web-2"
    })
    assert.deepStrictEqual(failureOf(text.replace('"made"', '"creating"')), {
      _tag: "Damaged",
      why: "the line of web-1 contradicts itself"
    })
    assert.deepStrictEqual(failureOf(text.replace('"version": 1', '"version": 2')), { _tag: "Later" })
  })

  it("contradicts itself as soon as two members would have one node", () => {
    const ledger = full(2)
    const [first] = entriesOf(ledger)
    assert.strictEqual(contradictionIn(ledger.members), undefined)
    const next = made(ledger, "web-2", first!.node!)
    assert.strictEqual(contradictionIn(next.members), `node ${first!.node!.id} is both web-1 and web-2`)
  })

  it("gives each node of a member its own key", () => {
    const pending = { name: "shop-web-1", plan: "small", image: "ubuntu", by: "here", since: "2026-01-01T00:00:00Z" }
    const begin = (ledger: Ledger) => begun(ledger, { group: "web", n: 1 }, { pending, sent: {}, protect: false })
    const key = (ledger: Ledger) => keyOf(ledger, ledger.members.get("web-1")!)
    const first = begin(emptyLedger)
    const failed = notMade(first, "web-1")
    const second = made(begin(failed), "web-1", ownedOf(nodeOf(5, "shop-web-1")))
    const third = begin(second)
    assert.strictEqual(new Set([first, second, third].map(key)).size, 3)
    assert.isTrue([first, second, third].every((ledger) => isKey(key(ledger))))
    assert.strictEqual(third.members.get("web-1")?.previous?.id, 5)
    assert.strictEqual(notMade(third, "web-1").members.get("web-1")?.node?.id, 5)
  })

  it("knows its node by the id and the creation, however its name is spelled", () => {
    const node = nodeOf(5, "shop_web-1")
    const owned = ownedOf(node)
    const later = (seconds: number) => ({
      ...node,
      createdAt: node.createdAt && DateTime.add(node.createdAt, { seconds })
    })
    assert.isTrue(isOwned(owned, { ...node, name: "Shop-Web-1" }))
    assert.isTrue(isOwned(owned, later(2)))
    assert.isTrue(isOwned({ ...owned, createdAt: null }, later(3600)))
    assert.isTrue(isOwned(owned, { ...node, createdAt: null }))
    assert.isFalse(isOwned(owned, later(30)))
    assert.isFalse(isOwned(owned, { ...node, name: "shop-web-2" }))
  })
})
