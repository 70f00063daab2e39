import { describe, expect, it } from "@effect/vitest"
import { aNode, nodeId } from "./aNode.ts"
import { byHand, type FlatFact } from "./byHand.ts"

const types = (facts: ReadonlyArray<FlatFact>) => facts.map(({ type }) => type)

/** Ten nodes that stay, so that one that goes is nothing implausible. */
const stable = Array.from({ length: 10 }, (_, index) => aNode({ id: 100 + index }))

describe("the first sweep", () => {
  it("is one baseline of all that was there, however many pages it had", () => {
    const watch = byHand()
    const sweep = watch.begin()
    expect(sweep.page(aNode({ id: 1 }), aNode({ id: 2 }))).toEqual([])
    expect(sweep.page(aNode({ id: 3 }))).toEqual([])
    const facts = sweep.end()
    expect(types(facts)).toEqual(["berth.watch.baseline"])
    expect(facts[0]).toMatchObject({ nodes: [{ id: 1 }, { id: 2 }, { id: 3 }], sweep: 1 })
  })

  it("of an account without nodes is a baseline without nodes", () => {
    expect(byHand().sweep()).toMatchObject([{ type: "berth.watch.baseline", nodes: [] }])
  })

  it("that fails is reported, and the next one is the baseline", () => {
    const watch = byHand()
    const failing = watch.begin()
    expect(failing.page(aNode({ id: 1 }))).toEqual([])
    expect(types(failing.fail())).toEqual(["berth.watch.degraded"])
    expect(types(watch.sweep(aNode({ id: 1 }), aNode({ id: 2 })))).toEqual([
      "berth.watch.recovered",
      "berth.watch.baseline"
    ])
  })
})

describe("a node", () => {
  it("that is gone before the first complete sweep is not reported", () => {
    const watch = byHand()
    const failing = watch.begin()
    failing.page(aNode({ id: 1, status: "terminate" }))
    failing.fail()
    watch.misses(1)
    watch.pass(1000)
    expect(watch.misses(1)).toEqual([])
  })

  it("that appears after a long sweep is created some time since that began", () => {
    const watch = byHand()
    const began = watch.now()
    const sweep = watch.begin()
    watch.pass(5000)
    sweep.end()
    const found = watch.pass(1000)
    expect(watch.finds(aNode({ id: 1 }))).toMatchObject([{ between: [began, found] }])
  })

  it("that a page has twice is as the page has it first", () => {
    const watch = byHand()
    watch.sweep()
    const facts = watch.begin().page(aNode({ id: 1, status: "created" }), aNode({ id: 1 }))
    expect(facts).toMatchObject([{ type: "berth.node.created", after: { status: "created" } }])
  })

  it("that appears is created, some time since the last complete sweep began", () => {
    const watch = byHand()
    const began = watch.now()
    watch.sweep(aNode({ id: 1 }))
    watch.pass(30_000)
    const facts = watch.sweep(aNode({ id: 1 }), aNode({ id: 2, status: "created" }))
    expect(facts).toEqual([
      expect.objectContaining({
        type: "berth.node.created",
        after: aNode({ id: 2, status: "created" }),
        between: [began, began + 30_000],
        version: 1,
        sweep: 2
      })
    ])
  })

  it("with another status has changed, some time since it was last seen", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "created" }))
    const seen = watch.pass(1000)
    watch.finds(aNode({ id: 1, status: "created" }))
    watch.pass(1000)
    expect(watch.finds(aNode({ id: 1, status: "running" }))).toEqual([
      expect.objectContaining({
        type: "berth.node.status_changed",
        from: "created",
        to: "running",
        before: aNode({ id: 1, status: "created" }),
        after: aNode({ id: 1, status: "running" }),
        between: [seen, seen + 1000],
        sweep: null
      })
    ])
  })

  it("has changed in no time at all where the clock was set back in between", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "created" }))
    const now = watch.pass(-10_000)
    expect(watch.finds(aNode({ id: 1 }))).toMatchObject([{ from: "created", to: "running", between: [now, now] }])
  })

  it("is not changed by another spelling of a status Berth does not know, but by another status", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: { unknown: "Re-Booting" } }))
    expect(watch.sweep(aNode({ id: 1, status: { unknown: "rebooting" } }))).toEqual([])
    expect(watch.sweep(aNode({ id: 1, status: { unknown: "resizing" } }))).toMatchObject([
      { from: { unknown: "rebooting" }, to: { unknown: "resizing" } }
    ])
  })

  it("that came on two pages of a shifting list is reported once", () => {
    const watch = byHand()
    watch.sweep()
    const sweep = watch.begin()
    expect(types(sweep.page(aNode({ id: 1 }), aNode({ id: 2 }), aNode({ id: 2 })))).toEqual([
      "berth.node.created",
      "berth.node.created"
    ])
    expect(sweep.page(aNode({ id: 2 }), aNode({ id: 3 }))).toMatchObject([
      { type: "berth.node.created", after: { id: 3 } }
    ])
    expect(sweep.end()).toEqual([])
  })

  it("keeps every field of an earlier record that a later one lacks", () => {
    const known = { vcpus: 2, memoryMib: 4096, diskGb: 50, plan: "B-2VCPU-4RAM-50DISK", image: "Ubuntu-24.04" }
    const more = { region: "ncr", backups: true, locked: false }
    const omitted = { vcpus: null, memoryMib: null, diskGb: null, plan: null, image: null }
    const watch = byHand()
    watch.sweep(aNode({ id: 1, ...known, ...more }))
    const facts = watch.finds(
      aNode({ id: 1, status: "power-off", ...omitted, region: null, backups: false, locked: null })
    )
    expect(facts).toMatchObject([{ after: { ...known, ...more, backups: false } }])
  })

  it("has no address any more when a later record states none", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, publicIp: "203.0.113.7", privateIp: "10.0.0.7" }))
    const facts = watch.finds(aNode({ id: 1, status: "power-off", publicIp: null, privateIp: null }))
    expect(facts).toMatchObject([{ after: { publicIp: null, privateIp: null } }])
  })

  it("with the same id and another createdAt is deleted and created, without another request", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, createdAtMillis: 5000 }))
    expect(watch.sweep(aNode({ id: 1, createdAtMillis: 9000, status: "created" }))).toMatchObject([
      { type: "berth.node.deleted", incarnation: 5, before: { status: "running" } },
      { type: "berth.node.created", incarnation: 9, after: { status: "created" } }
    ])
  })

  it("is the same when one answer writes its createdAt without fractions", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, createdAtMillis: 5432 }))
    expect(watch.finds(aNode({ id: 1, createdAtMillis: 5000 }))).toEqual([])
    expect(watch.sweep(aNode({ id: 1, createdAtMillis: 5432 }))).toEqual([])
  })
})

describe("a reply to a request from before the last known reply", () => {
  it("does not take a status back", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "created" }))
    const late = watch.exchange()
    watch.finds(aNode({ id: 1, status: "running" }))
    expect(watch.observe({ _tag: "NodeFound", ...late, node: aNode({ id: 1, status: "created" }) })).toEqual([])
    expect(watch.snapshot.nodes.get(nodeId(1))?.node.status).toBe("running")
  })

  it("does not bring a deleted node back", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "terminate" }), ...stable)
    const late = watch.exchange()
    watch.misses(1)
    watch.pass(1000)
    expect(types(watch.misses(1))).toEqual(["berth.node.deleted"])
    const page = { nodes: [aNode({ id: 1, status: "terminate" })], sweep: 2 }
    expect(watch.observe({ _tag: "PageRead", ...late, ...page })).toEqual([])
  })

  it("does not make a suspect of a node that was seen meanwhile", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "terminate" }))
    const late = watch.exchange()
    watch.finds(aNode({ id: 1, status: "terminate" }))
    watch.observe({ _tag: "NodeMissing", ...late, nodeId: nodeId(1) })
    expect(watch.snapshot.nodes.get(nodeId(1))?.absence).toBeNull()
  })
})

describe("a node that is not listed", () => {
  it("is deleted once it has answered 404 twice, a grace apart", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }), ...stable)
    const seen = watch.now()
    watch.pass(30_000)
    expect(watch.sweep(...stable)).toEqual([])
    expect(watch.misses(1)).toEqual([])
    watch.pass(4999)
    expect(watch.misses(1)).toEqual([])
    watch.pass(1)
    expect(watch.misses(1)).toEqual([
      expect.objectContaining({
        type: "berth.node.deleted",
        before: aNode({ id: 1 }),
        between: [seen, seen + 35_000],
        version: 1
      })
    ])
  })

  it("is not deleted however often it is not listed", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }), ...stable)
    for (let n = 0; n < 20; n++) {
      watch.pass(30_000)
      expect(watch.sweep(...stable)).toEqual([])
    }
  })

  it("begins anew as a suspect after it was seen", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }), ...stable)
    watch.sweep(...stable)
    watch.misses(1)
    watch.pass(5000)
    watch.finds(aNode({ id: 1 }))
    watch.sweep(...stable)
    expect(watch.misses(1)).toEqual([])
  })

  it("is no suspect when the sweep failed", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }), ...stable)
    const failing = watch.begin()
    failing.page(...stable)
    failing.fail()
    expect(watch.snapshot.nodes.get(nodeId(1))?.absence).toBeNull()
  })

  it("is no suspect when it was polled while the list was read", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "created" }), ...stable)
    const sweep = watch.begin()
    watch.finds(aNode({ id: 1, status: "created" }))
    sweep.page(...stable)
    sweep.end()
    expect(watch.snapshot.nodes.get(nodeId(1))?.absence).toBeNull()
  })

  it("last seen terminating is deleted by its 404s alone, after a shorter grace", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "terminate" }), ...stable)
    watch.misses(1)
    watch.pass(1000)
    expect(types(watch.misses(1))).toEqual(["berth.node.deleted"])
  })

  it("and that was not seen terminating is not deleted by 404s while the list still has it", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "created" }), ...stable)
    watch.misses(1)
    watch.pass(5000)
    expect(watch.misses(1)).toEqual([])
    const sweep = watch.begin()
    sweep.page(...stable)
    expect(types(sweep.end())).toEqual(["berth.node.deleted"])
  })

  it("and answers 404 a third time is gone since the second", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }), ...stable)
    const seen = watch.now()
    watch.misses(1)
    const second = watch.pass(5000)
    watch.misses(1)
    watch.pass(5000)
    watch.misses(1)
    expect(watch.sweep(...stable)).toMatchObject([{ type: "berth.node.deleted", between: [seen, second] }])
  })

  it("that leaves its id to another node is deleted, and the other is created for the first time", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "terminate", createdAtMillis: 5000 }), ...stable)
    watch.misses(1)
    watch.pass(1000)
    watch.misses(1)
    expect(watch.sweep(aNode({ id: 1, createdAtMillis: 9000 }), ...stable)).toMatchObject([
      { type: "berth.node.created", incarnation: 9, version: 1 }
    ])
  })

  it("that comes back after it was reported deleted is reported created again, as another event", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "terminate" }), ...stable)
    watch.misses(1)
    watch.pass(1000)
    watch.misses(1)
    expect(watch.sweep(aNode({ id: 1 }), ...stable)).toMatchObject([
      { type: "berth.node.created", version: 2, after: { id: 1 } }
    ])
  })
})

describe("a service that cannot be read", () => {
  it("is reported once, and once more when it can be read", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }))
    const since = watch.pass(30_000)
    expect(watch.begin().fail()).toMatchObject([
      { type: "berth.watch.degraded", trouble: "sweep-failed", message: "The service failed.", expected: 1, missing: 0 }
    ])
    expect(watch.begin().fail()).toEqual([])
    watch.pass(30_000)
    expect(watch.sweep(aNode({ id: 1 }))).toMatchObject([
      {
        type: "berth.watch.recovered",
        trouble: "sweep-failed",
        ending: "reachable",
        sinceMillis: since,
        atMillis: since + 30_000
      }
    ])
  })

  it("still shows what the pages that came show", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "created" }))
    const failing = watch.begin()
    expect(types(failing.page(aNode({ id: 1 }), aNode({ id: 2 })))).toEqual([
      "berth.node.status_changed",
      "berth.node.created"
    ])
    failing.fail()
  })
})

describe("the version of a change", () => {
  it("counts from one for a node whose creation was seen", () => {
    const watch = byHand()
    watch.sweep()
    watch.sweep(aNode({ id: 1, status: "created" }))
    expect(watch.sweep(aNode({ id: 1 }))).toMatchObject([{ version: 1 }])
    expect(watch.sweep(aNode({ id: 1, status: "power-off" }))).toMatchObject([{ version: 2 }])
  })

  it("counts from the baseline's instant for a node of the baseline, apart from those that an earlier run published", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }))
    const baseline = watch.now()
    watch.pass(5000)
    expect(watch.sweep(aNode({ id: 1, status: "power-off" }))).toMatchObject([{ version: baseline + 1 }])
  })

  it("counts from the baseline's instant also for a node that only a failed sweep had listed before", () => {
    const watch = byHand()
    const failing = watch.begin()
    failing.page(aNode({ id: 1 }), ...stable)
    failing.fail()
    watch.sweep(...stable)
    const baseline = watch.now()
    watch.pass(5000)
    expect(watch.finds(aNode({ id: 1, status: "power-off" }))).toMatchObject([{ version: baseline + 1 }])
  })
})
