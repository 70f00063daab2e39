import { nodeFromWire } from "@berthkit/core/api/NodeCodec"
import type { Node } from "@berthkit/core/domain/Node"
import { describe, expect, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { compareIncarnation, incarnationOf, NodeState, NodeStateJson } from "../../src/diff/Belief.ts"
import { Standing } from "../../src/diff/Snapshot.ts"
import { aNode } from "./aNode.ts"
import { byHand, types } from "./byHand.ts"

describe("the durable state", () => {
  it.effect("of a node is the same after it was written as JSON and read again", () =>
    Effect.gen(function* () {
      const states = yield* Arbitrary.sampleEffect(Arbitrary.schema(NodeState), { count: 200, seed: 7 })
      const same = Schema.toEquivalence(NodeState)
      for (const sampled of states) {
        const state = { ...sampled, node: { ...sampled.node, extra: { plan_id: 7 } } }
        expect(same(Schema.decodeSync(NodeStateJson)(Schema.encodeSync(NodeStateJson)(state)), state)).toBe(true)
      }
    })
  )

  it.effect("of an account is the same after it was written as JSON and read again", () =>
    Effect.gen(function* () {
      const json = Schema.fromJsonString(Schema.toCodecJson(Standing))
      for (const standing of yield* Arbitrary.sampleEffect(Arbitrary.schema(Standing), { count: 200, seed: 7 })) {
        expect(Schema.decodeSync(json)(Schema.encodeSync(json)(standing))).toEqual(standing)
      }
    })
  )
})

describe("an incarnation", () => {
  it("is the second in which the service accepted the node, whatever fractions a record leaves out", () => {
    expect(incarnationOf(aNode({ id: 1, createdAtMillis: 5432 }))).toBe(5)
    expect(compareIncarnation(aNode({ id: 1, createdAtMillis: 5000 }), 5432)).toBe("same")
    expect(compareIncarnation(aNode({ id: 1, createdAtMillis: 6432 }), 5432)).toBe("newer")
    expect(compareIncarnation(aNode({ id: 1, createdAtMillis: 4432 }), 5432)).toBe("older")
  })
})

const whole = {
  id: 1,
  name: "web",
  created_at: "1970-01-01T00:00:00.000000Z",
  status: "running",
  public_ip_address: "1.2.3.4",
  private_ip_address: { ip_address: "10.0.0.4", netmask: "255.255.255.0" },
  plan: "A-1VCPU-1RAM-15DISK",
  backup: false,
  is_locked: false
}
const shown = (over: object): Node => nodeFromWire({ ...whole, ...over }) as Node

describe("a field of another type", () => {
  it.each([
    { status: 42 },
    { status: null },
    { status: undefined },
    { status: ["running"] },
    { status: true },
    { public_ip_address: 7 },
    { private_ip_address: { netmask: "255.255.255.0" } },
    { plan: {}, backup: [], is_locked: "perhaps" }
  ])("is no event, nor is its return: %j", (over) => {
    const watch = byHand()
    watch.baseline(shown({}))
    expect(watch.sweep(shown(over))).toEqual([])
    expect(watch.sweep(shown({}))).toEqual([])
  })

  it("hides no change of another field", () => {
    const watch = byHand()
    watch.baseline(shown({}))
    expect(watch.sweep(shown({ status: 42, name: "db" }))).toMatchObject([
      { type: "berth.node.changed", fields: ["name"], after: { status: "running" } }
    ])
  })

  it("does not end a status, nor hide that it changed meanwhile", () => {
    const watch = byHand()
    watch.baseline(shown({}))
    const known = watch.now()
    watch.pass(10_000)
    watch.sweep(shown({ status: null }))
    watch.pass(10_000)
    expect(watch.sweep(shown({ status: "power-off" }))).toMatchObject([
      { from: "running", to: "power-off", between: [known, watch.now()] }
    ])
  })

  it("leaves open as long when a node ceased to be stuck as when its status changed", () => {
    const watch = byHand()
    watch.baseline(shown({ status: "created" }))
    watch.pass(1_800_001)
    watch.sweep(shown({ status: "created" }))
    const known = watch.now()
    watch.pass(10_000)
    watch.sweep(shown({ status: null }))
    watch.pass(10_000)
    expect(watch.sweep(shown({}))).toMatchObject([
      { type: "berth.node.status_changed", between: [known, watch.now()] },
      { type: "berth.node.unstuck", between: [known, watch.now()] }
    ])
  })

  it("is only known once a record states it, where none did before", () => {
    const watch = byHand()
    watch.baseline()
    const createdAt = shown({ created_at: new Date(watch.now()).toISOString() }).createdAt
    expect(types(watch.sweep({ ...shown({ status: 42 }), createdAt }))).toEqual(["node.created"])
    expect(watch.sweep({ ...shown({}), createdAt })).toEqual([])
    expect(watch.sweep({ ...shown({ status: "power-off" }), createdAt })).toMatchObject([{ from: "running" }])
  })
})

describe("whether a node is committed", () => {
  it("is learnt from a read without an event, and kept by lists, which do not say it", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }))
    const known = () => watch.snapshot.nodes.get(aNode({ id: 1 }).id)!.state.node.committed
    expect(watch.finds(aNode({ id: 1, committed: true }))).toEqual([])
    expect(known()).toBe(true)
    expect(watch.sweep(aNode({ id: 1 }))).toEqual([])
    expect(known()).toBe(true)
    expect(watch.finds(aNode({ id: 1, committed: false }))).toEqual([])
    expect(known()).toBe(false)
  })
})

describe("an address of another type", () => {
  it("is only known once a record states it, where none did before", () => {
    const watch = byHand()
    watch.baseline(shown({ public_ip_address: 7 }))
    expect(watch.sweep(shown({}))).toEqual([])
    expect(watch.sweep(shown({ public_ip_address: "9.9.9.9" }))).toMatchObject([{ fields: ["publicIp"] }])
  })

  it("leaves a node that has none without one", () => {
    const watch = byHand()
    watch.baseline(shown({ public_ip_address: null }))
    expect(watch.sweep(shown({ public_ip_address: 7, name: "db" }))).toMatchObject([{ fields: ["name"] }])
    expect(watch.sweep(shown({ name: "db" }))).toMatchObject([{ fields: ["publicIp"] }])
  })
})

describe("an address that lists and single reads state differently", () => {
  const inList = shown({ private_ip_address: "10.0.0.4" })
  const inRead = shown({ private_ip_address: {} })
  /** The events if the node is read and listed in turn. */
  const shownInTurn = (list: Node, read: Node) => {
    const watch = byHand()
    watch.baseline(list)
    return [1, 2, 3].flatMap(() => [...watch.finds(read), ...watch.sweep(list)])
  }

  it("is no event, whichever of them has it", () => {
    expect(shownInTurn(inList, inRead)).toEqual([])
    expect(shownInTurn(inList, shown({ private_ip_address: "10.0.0.4/24" }))).toEqual([])
    expect(shownInTurn(inRead, inList)).toEqual([])
  })

  it("is one event when the shape that has it shows another, or none any more", () => {
    const watch = byHand()
    watch.baseline(inList)
    watch.finds(inRead)
    const other = shown({ private_ip_address: "10.0.0.5" })
    expect(watch.sweep(other)).toMatchObject([{ fields: ["privateIp"], after: { privateIp: "10.0.0.5" } }])
    expect(watch.finds(inRead)).toEqual([])
    expect(watch.sweep(inRead)).toMatchObject([{ fields: ["privateIp"], after: { privateIp: null } }])
    expect(watch.finds(inRead)).toEqual([])
  })

  it("changes with the first of the two that shows it where both have it", () => {
    const watch = byHand()
    const other = shown({ private_ip_address: "10.0.0.5" })
    watch.baseline(inList)
    watch.finds(inList)
    expect(watch.finds(other)).toMatchObject([{ fields: ["privateIp"] }])
    expect(watch.sweep(other)).toEqual([])
    expect(watch.sweep(inList)).toMatchObject([{ after: { privateIp: "10.0.0.4" } }])
  })

  it("is unknown in the list where a read showed the node first", () => {
    const watch = byHand()
    watch.baseline(inList)
    watch.finds({ ...inList, id: 2 as never })
    expect(types(watch.sweep(inList, { ...inRead, id: 2 as never }))).toEqual([])
    expect(types(watch.finds({ ...inList, id: 2 as never }))).toEqual([])
  })
})

describe("a status in words that are not known", () => {
  it("is one like any other", () => {
    const watch = byHand()
    watch.baseline(shown({}))
    expect(types(watch.sweep(shown({ status: "Reinstalling" })))).toEqual(["node.status_changed"])
  })
})
