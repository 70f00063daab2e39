import { describe, expect, it } from "@effect/vitest"
import type { Fact } from "../../src/diff/Fact.ts"
import { aNode, nodeId } from "./aNode.ts"
import { byHand } from "./byHand.ts"

const tags = (facts: ReadonlyArray<Fact>) => facts.map(({ _tag }) => _tag)

/** Ten nodes that stay, so that one that goes is nothing implausible. */
const others = Array.from({ length: 10 }, (_, index) => aNode({ id: 100 + index }))

describe("the first sweep", () => {
  it("is one baseline of all that was there, however many pages it had", () => {
    const watch = byHand()
    const sweep = watch.begin()
    expect(sweep.page(aNode({ id: 1 }), aNode({ id: 2 }))).toEqual([])
    expect(sweep.page(aNode({ id: 3 }))).toEqual([])
    const facts = sweep.end()
    expect(tags(facts)).toEqual(["Baseline"])
    expect(facts[0]).toMatchObject({ nodes: [{ id: 1 }, { id: 2 }, { id: 3 }], sweep: 1 })
  })

  it("of an account without nodes is a baseline without nodes", () => {
    expect(byHand().sweep()).toMatchObject([{ _tag: "Baseline", nodes: [] }])
  })

  it("that fails tells that, and the next one is the baseline", () => {
    const watch = byHand()
    const failing = watch.begin()
    expect(failing.page(aNode({ id: 1 }))).toEqual([])
    expect(tags(failing.fail())).toEqual(["Degraded"])
    expect(tags(watch.sweep(aNode({ id: 1 }), aNode({ id: 2 })))).toEqual(["Recovered", "Baseline"])
  })
})

describe("a node", () => {
  it("that appears is created, some time since the last complete sweep began", () => {
    const watch = byHand()
    const began = watch.now()
    watch.sweep(aNode({ id: 1 }))
    watch.pass(30_000)
    const facts = watch.sweep(aNode({ id: 1 }), aNode({ id: 2, status: "created" }))
    expect(facts).toEqual([
      expect.objectContaining({
        _tag: "Created",
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
        _tag: "StatusChanged",
        from: "created",
        to: "running",
        before: aNode({ id: 1, status: "created" }),
        after: aNode({ id: 1, status: "running" }),
        between: [seen, seen + 1000],
        sweep: null
      })
    ])
  })

  it("is not changed by another spelling of a status Berth does not know, but by another status", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: { unknown: "Re-Booting" } }))
    expect(watch.sweep(aNode({ id: 1, status: { unknown: "rebooting" } }))).toEqual([])
    expect(watch.sweep(aNode({ id: 1, status: { unknown: "resizing" } }))).toMatchObject([
      { from: { unknown: "rebooting" }, to: { unknown: "resizing" } }
    ])
  })

  it("that came on two pages of a shifting list is told once", () => {
    const watch = byHand()
    watch.sweep()
    const sweep = watch.begin()
    expect(tags(sweep.page(aNode({ id: 1 }), aNode({ id: 2 }), aNode({ id: 2 })))).toEqual(["Created", "Created"])
    expect(sweep.page(aNode({ id: 2 }), aNode({ id: 3 }))).toMatchObject([{ _tag: "Created", after: { id: 3 } }])
    expect(sweep.end()).toEqual([])
  })

  it("keeps what an earlier answer said and a later one leaves out", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, plan: "B-2VCPU-4RAM-50DISK", image: "Ubuntu-24.04" }))
    const facts = watch.finds(aNode({ id: 1, status: "power-off", plan: null, image: null, backups: true }))
    expect(facts).toMatchObject([{ after: { plan: "B-2VCPU-4RAM-50DISK", image: "Ubuntu-24.04", backups: true } }])
  })

  it("with the same id and another createdAt is deleted and created, without asking anybody", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, createdAtMillis: 5000 }))
    expect(watch.sweep(aNode({ id: 1, createdAtMillis: 9000, status: "created" }))).toMatchObject([
      { _tag: "Deleted", incarnation: 5, before: { status: "running" } },
      { _tag: "Created", incarnation: 9, after: { status: "created" } }
    ])
  })

  it("is the same when one answer writes its createdAt without fractions", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, createdAtMillis: 5432 }))
    expect(watch.finds(aNode({ id: 1, createdAtMillis: 5000 }))).toEqual([])
    expect(watch.sweep(aNode({ id: 1, createdAtMillis: 5432 }))).toEqual([])
  })
})

describe("an answer that was asked for before what is known was answered", () => {
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
    watch.sweep(aNode({ id: 1, status: "terminate" }), ...others)
    const late = watch.exchange()
    watch.misses(1)
    watch.pass(1000)
    expect(tags(watch.misses(1))).toEqual(["Deleted"])
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
    watch.sweep(aNode({ id: 1 }), ...others)
    const seen = watch.now()
    watch.pass(30_000)
    expect(watch.sweep(...others)).toEqual([])
    expect(watch.misses(1)).toEqual([])
    watch.pass(4999)
    expect(watch.misses(1)).toEqual([])
    watch.pass(1)
    expect(watch.misses(1)).toEqual([
      expect.objectContaining({
        _tag: "Deleted",
        before: aNode({ id: 1 }),
        between: [seen, seen + 35_000],
        version: 1
      })
    ])
  })

  it("is not deleted however often it is not listed", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }), ...others)
    for (let n = 0; n < 20; n++) {
      watch.pass(30_000)
      expect(watch.sweep(...others)).toEqual([])
    }
  })

  it("begins anew as a suspect after it was seen", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }), ...others)
    watch.sweep(...others)
    watch.misses(1)
    watch.pass(5000)
    watch.finds(aNode({ id: 1 }))
    watch.sweep(...others)
    expect(watch.misses(1)).toEqual([])
  })

  it("is no suspect when the sweep failed", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }), ...others)
    const failing = watch.begin()
    failing.page(...others)
    failing.fail()
    expect(watch.snapshot.nodes.get(nodeId(1))?.absence).toBeNull()
  })

  it("is no suspect when it was looked at while the list was read", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "created" }), ...others)
    const sweep = watch.begin()
    watch.finds(aNode({ id: 1, status: "created" }))
    sweep.page(...others)
    sweep.end()
    expect(watch.snapshot.nodes.get(nodeId(1))?.absence).toBeNull()
  })

  it("last seen terminating is deleted by its 404s alone, after a shorter grace", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "terminate" }), ...others)
    watch.misses(1)
    watch.pass(1000)
    expect(tags(watch.misses(1))).toEqual(["Deleted"])
  })

  it("and that nobody was seen to delete is not deleted by 404s while the list still has it", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "created" }), ...others)
    watch.misses(1)
    watch.pass(5000)
    expect(watch.misses(1)).toEqual([])
    const sweep = watch.begin()
    sweep.page(...others)
    expect(tags(sweep.end())).toEqual(["Deleted"])
  })

  it("that comes back after it was told deleted is told created again, as another event", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "terminate" }), ...others)
    watch.misses(1)
    watch.pass(1000)
    watch.misses(1)
    expect(watch.sweep(aNode({ id: 1 }), ...others)).toMatchObject([{ _tag: "Created", version: 2, after: { id: 1 } }])
  })
})

describe("a service that cannot be read", () => {
  it("is told once, and once more when it can be", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }))
    const since = watch.pass(30_000)
    expect(watch.begin().fail()).toMatchObject([
      { _tag: "Degraded", trouble: "sweep-failed", message: "The service failed.", expected: 1, missing: 0 }
    ])
    expect(watch.begin().fail()).toEqual([])
    watch.pass(30_000)
    expect(watch.sweep(aNode({ id: 1 }))).toMatchObject([
      { _tag: "Recovered", trouble: "sweep-failed", ending: "reachable", sinceMillis: since, atMillis: since + 30_000 }
    ])
  })

  it("still shows what the pages that came show", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1, status: "created" }))
    const failing = watch.begin()
    expect(tags(failing.page(aNode({ id: 1 }), aNode({ id: 2 })))).toEqual(["StatusChanged", "Created"])
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

  it("counts from the baseline's instant for a node of the baseline, apart from whatever an earlier run told", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }))
    const baseline = watch.now()
    watch.pass(5000)
    expect(watch.sweep(aNode({ id: 1, status: "power-off" }))).toMatchObject([{ version: baseline + 1 }])
  })
})
