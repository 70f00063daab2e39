import { describe, expect, it } from "@effect/vitest"
import { aNode, nodeId } from "./aNode.ts"
import { questions } from "../../src/diff/Question.ts"
import { defaultRules } from "../../src/diff/Snapshot.ts"
import { byHand, denyTwice, type FlatFact, types } from "./byHand.ts"

/** Many nodes that stay, so that the loss of one node is plausible. */
const stable = Array.from({ length: 30 }, (_, index) => aNode({ id: 100 + index }))

describe("the baseline", () => {
  it("is one small event, once two lists agree, however many pages they had", () => {
    const watch = byHand()
    const first = watch.begin()
    expect(first.page(aNode({ id: 1 }), aNode({ id: 2 }))).toEqual([])
    expect(first.page(aNode({ id: 3 }))).toEqual([])
    expect(first.end()).toEqual([])
    expect(watch.sweep(aNode({ id: 1 }), aNode({ id: 2 }), aNode({ id: 3 }))).toMatchObject([
      { type: "berth.watch.baseline", count: 3, sweep: 2 }
    ])
  })

  it("of an account without nodes has none", () => {
    expect(byHand().baseline()).toMatchObject([{ type: "berth.watch.baseline", count: 0 }])
  })

  it("waits for a list that has every node of the list before it", () => {
    const watch = byHand()
    watch.sweep(...stable)
    expect(watch.sweep()).toEqual([])
    expect(watch.sweep(...stable)).toMatchObject([{ type: "berth.watch.baseline", count: 30 }])
  })

  it("waits for another list, and for no reads, when the second lacks many", () => {
    const watch = byHand()
    watch.sweep(...stable)
    watch.sweep()
    expect(questions(watch.snapshot, defaultRules)).toEqual([])
  })

  it("does not come from the read of a node that both lists may have, nor has nodes of the end of the list", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }))
    expect(watch.finds(aNode({ id: 1 }))).toEqual([])
    watch.tail(aNode({ id: 2 }))
    expect(watch.sweep(aNode({ id: 1 }))).toMatchObject([{ type: "berth.watch.baseline", count: 1 }])
  })

  it("waits for the reads of the few nodes that the second list lacks", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }), aNode({ id: 2 }), ...stable)
    expect(watch.sweep(...stable)).toEqual([])
    expect(watch.finds(aNode({ id: 1 }))).toEqual([])
    expect(watch.misses(2)).toMatchObject([{ type: "berth.watch.baseline", count: 31 }])
  })

  it("that a read concludes makes no node missing that the sweep under way has shown already", () => {
    const watch = byHand()
    watch.sweep(aNode({ id: 1 }), ...stable)
    watch.sweep(...stable)
    const sweep = watch.begin()
    sweep.page(...stable)
    expect(types(watch.misses(1))).toEqual(["watch.baseline"])
    expect(sweep.end()).toEqual([])
    watch.pass(10_000)
    const createdAtMillis = watch.now()
    watch.pass(10_000)
    expect(types(watch.sweep(...stable, aNode({ id: 200, createdAtMillis })))).toEqual(["node.created"])
  })

  it("turns nodes that the first lists hid into discovered ones, not into created ones", () => {
    const watch = byHand()
    watch.baseline()
    watch.pass(30_000)
    expect(types(watch.sweep(...stable))).toEqual(stable.map(() => "node.discovered"))
  })
})

describe("a node", () => {
  it("that appears was created since the last complete sweep began, on the service's clock", () => {
    const watch = byHand()
    const began = watch.pass(10_000)
    watch.baseline(...stable)
    const createdAtMillis = watch.pass(10_000)
    const seen = watch.pass(10_000)
    watch.step(3_600_000)
    expect(watch.sweep(...stable, aNode({ id: 2, status: "created", createdAtMillis }))).toMatchObject([
      { type: "berth.node.created", after: { status: "created" }, life: 1, between: [began, seen + 3_600_000] }
    ])
  })

  it.each(["sweep", "tail", "restart"] as const)(
    "is new by the service's clock, however wrong the daemon's own is: seen by a %s",
    (kind) => {
      const watch = byHand()
      watch.step(3_600_000)
      watch.baseline(...stable)
      const since = kind === "tail" ? watch.pass(5000) : watch.now()
      if (kind === "tail") watch.tail(...stable)
      if (kind === "restart") watch.restart()
      const node = aNode({ id: 200, createdAtMillis: watch.pass(10_000) })
      const facts = kind === "tail" ? watch.tail(...stable, node) : watch.sweep(...stable, node)
      const between = [since + 3_600_000, watch.now() + 3_600_000]
      expect(facts).toMatchObject([{ type: "berth.node.created", between }])
    }
  )

  it("of a greater id than the last page had was created since that page was read, unless it is older", () => {
    const watch = byHand()
    watch.baseline(...stable)
    const ended = watch.pass(60_000)
    watch.tail(...stable)
    watch.pass(10_000)
    const createdAtMillis = watch.now()
    expect(watch.tail(...stable, aNode({ id: 200, createdAtMillis }))).toMatchObject([
      { type: "berth.node.created", between: [ended, ended + 10_000], sweep: null }
    ])
    expect(types(watch.tail(...stable, aNode({ id: 201 })))).toEqual(["node.discovered"])
  })

  it("that a read shows first is not suspected of having left the list that had it never", () => {
    const watch = byHand()
    watch.baseline(...stable)
    expect(types(watch.finds(aNode({ id: 2, createdAtMillis: watch.now() })))).toEqual(["node.created"])
  })

  it("with another status has changed since it was last seen", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1, status: "created" }))
    const seen = watch.pass(1000)
    watch.finds(aNode({ id: 1, status: "created" }))
    const now = watch.pass(1000)
    expect(watch.finds(aNode({ id: 1 }))).toMatchObject([
      { type: "berth.node.status_changed", from: "created", to: "running", between: [seen, now], sweep: null }
    ])
  })

  it("is not changed by another spelling of a status Berth does not know, but by another status", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1, status: { unknown: "Re-Booting" } }))
    expect(watch.sweep(aNode({ id: 1, status: { unknown: "rebooting" } }))).toEqual([])
    expect(watch.sweep(aNode({ id: 1, status: { unknown: "resizing" } }))).toMatchObject([
      { to: { unknown: "resizing" } }
    ])
  })

  it("with another name, plan, address, backup setting or lock is reported with what changed", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1, publicIp: "203.0.113.7", locked: false }))
    const facts = watch.sweep(
      aNode({ id: 1, name: "new", publicIp: null, backups: true, locked: true, plan: "B-2VCPU-4RAM-50DISK" })
    )
    expect(facts).toMatchObject([
      {
        type: "berth.node.changed",
        fields: ["name", "plan", "publicIp", "backups", "locked"],
        version: expect.any(Number)
      }
    ])
  })

  it("is not changed by a field that no record had before", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1, locked: null, plan: null }))
    expect(watch.finds(aNode({ id: 1, locked: false }))).toEqual([])
    expect(watch.sweep(aNode({ id: 1, locked: true }))).toMatchObject([{ fields: ["locked"] }])
  })

  it("keeps every field of an earlier record that a later one lacks, and is not changed by that", () => {
    const known = { vcpus: 2, memoryMib: 4096, diskGb: 50, plan: "B-2VCPU-4RAM-50DISK", image: "Ubuntu-24.04" }
    const omitted = { vcpus: null, memoryMib: null, diskGb: null, plan: null, image: null, backups: null }
    const watch = byHand()
    watch.baseline(aNode({ id: 1, ...known }))
    expect(watch.finds(aNode({ id: 1, ...omitted }))).toEqual([])
    expect(watch.finds(aNode({ id: 1, ...omitted, status: "power-off" }))).toMatchObject([{ after: known }])
  })

  it("that came on two pages of a shifting list is reported once", () => {
    const watch = byHand()
    watch.baseline()
    const createdAtMillis = watch.now()
    const sweep = watch.begin()
    expect(types(sweep.page(aNode({ id: 2, createdAtMillis }), aNode({ id: 2, createdAtMillis })))).toHaveLength(1)
    expect(sweep.page(aNode({ id: 2, createdAtMillis }))).toEqual([])
  })

  it("with an unreadable record is neither changed nor missing", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    const sweep = watch.begin()
    sweep.page(...stable)
    sweep.unreadable(1)
    expect(sweep.end()).toEqual([])
    expect(watch.absences().size).toBe(0)
  })

  it("that takes longer in transition than such nodes do is stuck, once, until its status changes", () => {
    const watch = byHand()
    const stuck = aNode({ id: 1, status: "created" })
    watch.baseline(stuck)
    watch.pass(1_800_001)
    expect(watch.finds(stuck)).toMatchObject([{ type: "berth.node.stuck", status: "created" }])
    watch.restart()
    expect(watch.finds(stuck)).toEqual([])
    expect(types(watch.finds(aNode({ id: 1 })))).toEqual(["node.status_changed", "node.unstuck"])
  })
})

describe("the time that nodes take", () => {
  it("is learned from those that were seen to begin, and a node that takes longer is stuck", () => {
    const watch = byHand()
    watch.baseline()
    for (let id = 1; id <= 20; id++) {
      const createdAtMillis = watch.pass(1000)
      watch.finds(aNode({ id, status: "created", createdAtMillis }))
      watch.pass(100_000)
      watch.finds(aNode({ id, createdAtMillis }))
    }
    const slow = aNode({ id: 21, status: "created", createdAtMillis: watch.pass(1000) })
    watch.finds(slow)
    watch.pass(100_000)
    expect(watch.finds(slow)).toEqual([])
    watch.pass(1)
    expect(types(watch.finds(slow))).toEqual(["node.stuck"])
  })
})

describe("an id that another node has taken", () => {
  it("proves the first one deleted, without another request", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1, createdAtMillis: 5000 }))
    expect(watch.sweep(aNode({ id: 1, createdAtMillis: watch.now() }))).toMatchObject([
      { type: "berth.node.deleted", incarnation: 5 },
      { type: "berth.node.created", incarnation: 1000, life: 1 }
    ])
  })

  it("is not taken back by a list that still shows the older one", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1, createdAtMillis: 9000 }))
    expect(watch.sweep(aNode({ id: 1, createdAtMillis: 5000 }))).toEqual([])
    expect(watch.finds(aNode({ id: 1, createdAtMillis: 9000 }))).toEqual([])
  })
})

describe("an older reply", () => {
  it("does not overwrite what a newer one showed", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }))
    const late = watch.exchange()
    watch.finds(aNode({ id: 1, status: "power-off" }))
    expect(watch.observe({ _tag: "NodeFound", ...late, node: aNode({ id: 1 }) })).toEqual([])
    watch.observe({ _tag: "NodeMissing", ...late, nodeId: nodeId(1) })
    expect(watch.absences().size).toBe(0)
  })

  it("whose record cannot be read does not refute a newer 404", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    const late = watch.exchange()
    watch.finds(aNode({ id: 1 }))
    watch.misses(1)
    watch.observe({ _tag: "PageRead", ...late, sweep: 3, isEnd: false, nodes: [], unreadable: [nodeId(1)] })
    expect(watch.absences().size).toBe(1)
  })

  it("in a list does not bring a terminating node back to running", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1, status: "terminate" }))
    expect(watch.sweep(aNode({ id: 1 }))).toEqual([])
    watch.pass(60_000)
    expect(watch.sweep(aNode({ id: 1 }))).toEqual([])
    expect(watch.finds(aNode({ id: 1, status: "terminate" }))).toEqual([])
    expect(watch.finds(aNode({ id: 1 }))).toEqual([])
  })

  it("with an impossible status is believed once a read confirms it a while later", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1, status: "terminate" }))
    watch.sweep(aNode({ id: 1 }))
    watch.pass(5000)
    expect(watch.finds(aNode({ id: 1 }))).toMatchObject([{ from: "terminate", to: "running" }])
  })
})

describe("a node that is not listed", () => {
  it("is deleted once two sweeps lacked it and two reads a grace apart answered 404", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    const seen = watch.now()
    watch.pass(30_000)
    watch.sweep(...stable)
    watch.misses(1)
    watch.pass(30_000)
    expect(watch.sweep(...stable)).toEqual([])
    watch.pass(29_999)
    expect(watch.misses(1)).toEqual([])
    watch.pass(1)
    expect(watch.misses(1)).toMatchObject([{ type: "berth.node.deleted", between: [seen, watch.now()], life: 1 }])
  })

  it("is not deleted by reads of which the second was sent too early, however late it was answered", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    watch.sweep(...stable)
    watch.misses(1)
    watch.pass(59_999)
    const { asked } = watch.exchange()
    watch.pass(1000)
    watch.observe({ _tag: "NodeMissing", asked, answered: watch.exchange().answered, nodeId: nodeId(1) })
    expect(watch.sweep(...stable)).toEqual([])
    expect(watch.absences().get(nodeId(1))).toMatchObject({ lists: 2 })
  })

  it("is deleted after a shorter grace when it was seen terminating", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1, status: "terminate" }), ...stable)
    watch.sweep(...stable)
    watch.misses(1)
    watch.sweep(...stable)
    watch.pass(5000)
    expect(types(watch.misses(1))).toEqual(["node.deleted"])
  })

  it("is not deleted by one sweep and any number of 404s, nor by any number of sweeps", () => {
    const once = byHand()
    once.baseline(aNode({ id: 1 }), ...stable)
    once.sweep(...stable)
    for (let n = 0; n < 20; n++) expect(denyTwice(once, [1])).toEqual([])

    const unread = byHand()
    unread.baseline(aNode({ id: 1 }), ...stable)
    for (let n = 0; n < 20; n++) {
      unread.pass(30_000)
      expect(unread.sweep(...stable)).toEqual([])
    }
  })

  it.each([97, 98, 99, 100])("is not deleted without reads of its own, however many are gone with it: %i", (id) => {
    const watch = byHand()
    const all = Array.from({ length: 100 }, (_, index) => aNode({ id: index + 1, status: "terminate" }))
    watch.baseline(...all)
    const others = all.flatMap((node) => (node.id === id ? [] : [node.id]))
    const facts = Array.from({ length: 4 }, () => [...watch.sweep(), ...denyTwice(watch, others)]).flat()
    expect(types(facts)).toEqual(others.map(() => "node.deleted"))
    expect([...watch.snapshot.nodes.keys()]).toEqual([id])
  })

  it("is not deleted before the end of a sweep shows how many are missing with it since the first 404", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    watch.sweep(...stable)
    watch.sweep(...stable)
    watch.misses(1)
    watch.pass(60_000)
    expect(watch.misses(1)).toEqual([])
    expect(types(watch.sweep(...stable.slice(3)))).toEqual(["watch.degraded"])
  })

  it("is not deleted while the list has it, however often a read answers 404", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    for (let n = 0; n < 20; n++) {
      expect(denyTwice(watch, [1])).toEqual([])
      expect(watch.sweep(aNode({ id: 1 }), ...stable)).toEqual([])
    }
  })

  it("begins anew as a suspect after it was seen, after a restart and after a pause", () => {
    for (const interrupt of ["seen", "restart", "pause"] as const) {
      const watch = byHand()
      watch.baseline(aNode({ id: 1 }), ...stable)
      watch.sweep(...stable)
      watch.misses(1)
      watch.sweep(...stable)
      watch.pass(60_000)
      if (interrupt === "seen") watch.finds(aNode({ id: 1 }))
      if (interrupt === "restart") watch.restart()
      if (interrupt === "pause") watch.pauses(60_000)
      expect(watch.misses(1)).toEqual([])
      watch.sweep(...stable)
      watch.pass(60_000)
      expect(watch.misses(1)).toEqual([])
      expect(types(watch.sweep(...stable))).toEqual(["node.deleted"])
    }
  })

  it("is gone since it was last seen, also when that was before a restart", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    const seen = watch.now()
    watch.pass(120_000)
    watch.sweep(...stable)
    watch.pass(120_000)
    watch.restart()
    watch.sweep(...stable)
    watch.misses(1)
    watch.sweep(...stable)
    watch.pass(60_000)
    expect(watch.misses(1)).toMatchObject([
      { type: "berth.node.deleted", between: [seen, watch.now()], afterGap: true }
    ])
  })
})

describe("a node that went while a slow reply showed it, and was missed only by the next process,", () => {
  it.each(["new", "changed", "listed again"] as const)("is gone since that reply was asked for: %s", (kind) => {
    const watch = byHand()
    watch.baseline(...stable, ...(kind === "new" ? [] : [aNode({ id: 1 })]))
    if (kind === "listed again") watch.sweep(...stable)
    const asked = watch.exchange().asked
    watch.pass(700)
    const answered = watch.exchange().answered
    const node = aNode({ id: 1, createdAtMillis: kind === "new" ? asked.atMillis : 0 })
    const shown = kind === "changed" ? { ...node, name: "renamed" } : node
    watch.observe({ _tag: "PageRead", asked, answered, sweep: null, isEnd: false, nodes: [shown], unreadable: [] })
    watch.restart()
    watch.sweep(...stable)
    watch.misses(1)
    watch.sweep(...stable)
    watch.pass(60_000)
    expect(watch.misses(1)).toMatchObject([{ type: "berth.node.deleted", between: [asked.atMillis, watch.now()] }])
  })
})

describe("a node that was reported deleted", () => {
  const deleted = () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    watch.sweep(...stable)
    watch.sweep(...stable)
    watch.misses(1)
    watch.pass(60_000)
    watch.misses(1)
    watch.sweep(...stable)
    expect(watch.snapshot.gone.has(nodeId(1))).toBe(true)
    return watch
  }

  it("is not brought back by a stale list, nor by one read, also after a restart", () => {
    const watch = deleted()
    for (let n = 0; n < 20; n++) {
      watch.pass(60_000)
      if (n === 10) watch.restart()
      expect(watch.sweep(aNode({ id: 1 }), ...stable)).toEqual([])
    }
    expect(watch.finds(aNode({ id: 1 }))).toEqual([])
    watch.misses(1)
    watch.pass(60_000)
    expect(watch.finds(aNode({ id: 1 }))).toEqual([])
  })

  it("returns in another life when two reads a grace apart show it", () => {
    const watch = deleted()
    watch.finds(aNode({ id: 1 }))
    watch.pass(59_999)
    expect(watch.finds(aNode({ id: 1 }))).toEqual([])
    watch.pass(1)
    expect(watch.finds(aNode({ id: 1 }))).toMatchObject([{ type: "berth.node.discovered", life: 2 }])
  })

  it("leaves its id to another node, which is created at first sight", () => {
    const watch = deleted()
    const createdAtMillis = watch.now()
    expect(watch.sweep(aNode({ id: 1, createdAtMillis }), ...stable)).toMatchObject([
      { type: "berth.node.created", life: 1 }
    ])
  })
})

describe("a gap", () => {
  it("before the baseline hides nothing", () => {
    const watch = byHand()
    watch.sweep(...stable)
    watch.pauses(60_000)
    const [baseline] = watch.sweep(...stable)
    expect(baseline).toMatchObject({ type: "berth.watch.baseline" })
    expect("afterGap" in baseline!).toBe(false)
  })

  it("ends every suspicion, and does not add earlier losses to later ones", () => {
    const watch = byHand()
    const many = Array.from({ length: 60 }, (_, index) => aNode({ id: 200 + index }))
    watch.baseline(aNode({ id: 1 }), aNode({ id: 2 }), aNode({ id: 3, status: "terminate" }), ...many)
    watch.sweep(aNode({ id: 2 }), aNode({ id: 3 }), ...many)
    denyTwice(watch, [1])
    watch.sweep(aNode({ id: 2 }), aNode({ id: 3 }), ...many)
    watch.sweep(aNode({ id: 1 }), ...many)
    watch.finds(aNode({ id: 2 }))
    watch.sweep(aNode({ id: 1 }))
    const sizes = () => {
      const { evidence, nodes } = watch.snapshot
      const known = Array.from(nodes.values())
      return [
        watch.absences().size,
        known.filter(({ hidden }) => hidden !== null).length,
        evidence.losses.length,
        watch.returning().length,
        known.filter(({ impossible }) => impossible !== null).length
      ]
    }
    expect(sizes().map(Math.sign)).toEqual([1, 1, 1, 1, 1])
    watch.pauses(60_000)
    expect(sizes()).toEqual([0, 0, 0, 0, 0])
  })

  it("marks every change that the first sweep after it shows, and none that a later one shows", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), aNode({ id: 2 }), aNode({ id: 3 }))
    const marks = (facts: ReadonlyArray<FlatFact>) =>
      facts.map((fact) => ["nodeId" in fact && fact.nodeId, "afterGap" in fact])
    for (const gap of [() => void watch.pauses(60_000), watch.restart]) {
      watch.pass(60_000)
      gap()
      const off = { status: "power-off" } as const
      expect(marks(watch.sweep(aNode({ id: 1, ...off }), aNode({ id: 2, ...off }), aNode({ id: 3 })))).toEqual([
        [1, true],
        [2, true]
      ])
      watch.pass(60_000)
      const later = watch.sweep(aNode({ id: 1 }), aNode({ id: 2 }), aNode({ id: 3, ...off }))
      expect(marks(later)).toEqual([
        [1, false],
        [2, false],
        [3, false]
      ])
      watch.pass(60_000)
      watch.sweep(aNode({ id: 1 }), aNode({ id: 2 }), aNode({ id: 3 }))
    }
  })

  it("marks a deletion that takes long to prove, but not one that began later", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), aNode({ id: 2 }), ...stable)
    watch.pass(60_000)
    watch.restart()
    watch.pass(1000)
    watch.sweep(aNode({ id: 2 }), ...stable)
    watch.pass(60_000)
    watch.sweep(...stable)
    const gone = [...denyTwice(watch, [1, 2]), ...watch.sweep(...stable)]
    expect(gone.map((fact) => [fact.nodeId, "afterGap" in fact])).toEqual([
      [1, true],
      [2, false]
    ])
  })

  it("does not mark what happens long after a quiet restart", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }))
    watch.restart()
    expect(watch.sweep(aNode({ id: 1 }))).toEqual([])
    watch.pass(86_400_000)
    const [fact] = watch.sweep(aNode({ id: 1, status: "power-off" }))
    expect("afterGap" in fact!).toBe(false)
  })

  it("marks the begin of a trouble before its first complete sweep, and of none after that", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }))
    const fails = () => [watch.fails(), watch.fails(), watch.fails()].flat().map((fact) => "afterGap" in fact)
    watch.restart()
    expect(fails()).toEqual([true])
    watch.pass(60_000)
    expect(watch.sweep(aNode({ id: 1 }))).toMatchObject([{ type: "berth.watch.recovered", afterGap: true }])
    expect(fails()).toEqual([false])
  })
})

describe("a node that the list had all the time", () => {
  it("is not taken for hidden because a read answered 404", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    watch.misses(1)
    watch.finds(aNode({ id: 1 }))
    watch.sweep(...stable)
    expect(questions(watch.snapshot, defaultRules)).toMatchObject([{ id: 1, dueMonotonicMillis: -Infinity }])
  })
})

describe("a page that repeats a node", () => {
  it("shows it as its first record does", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }))
    expect(watch.sweep(aNode({ id: 1 }), aNode({ id: 1, status: "power-off" }))).toEqual([])
  })
})

describe("a sweep after the clock was set back", () => {
  it("is written", () => {
    const watch = byHand()
    watch.baseline(...stable)
    watch.step(-3_600_000)
    watch.sweep(...stable)
    expect(watch.standing.sweptMillis).toBe(watch.now() - 3_600_000)
  })
})

describe("a quiet sweep", () => {
  it("writes once that it lacks a node", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    const before = watch.written()
    for (let n = 0; n < 10; n++) watch.sweep(...stable)
    expect(watch.written() - before).toBe(1)
  })

  it("writes nothing, and the instant of the last one once a minute", () => {
    const watch = byHand()
    watch.baseline(...stable)
    const before = watch.written()
    for (let n = 0; n < 10; n++) {
      watch.pass(30_000)
      expect(watch.sweep(...stable)).toEqual([])
    }
    expect(watch.written() - before).toBe(5)
  })
})

describe("the version of a change", () => {
  it("continues after a restart and in the node's next life", () => {
    const watch = byHand()
    watch.baseline(...stable)
    const createdAtMillis = watch.now()
    watch.sweep(...stable, aNode({ id: 1, createdAtMillis }))
    expect(watch.sweep(...stable, aNode({ id: 1, createdAtMillis, status: "power-off" }))).toMatchObject([
      { version: 1 }
    ])
    watch.restart()
    expect(watch.sweep(...stable, aNode({ id: 1, createdAtMillis }))).toMatchObject([{ version: 2 }])
  })
})

describe("a list without dates", () => {
  const undated = (id: number) => aNode({ id, createdAt: null })
  const known = stable.map(({ id }) => undated(id))

  it("counts a node as new if its id is above all known ids, and as discovered otherwise", () => {
    const watch = byHand()
    watch.baseline(...known)
    expect(types(watch.sweep(...known, undated(200)))).toEqual(["node.created"])
    expect(types(watch.sweep(...known, undated(200), undated(50)))).toEqual(["node.discovered"])
  })

  it("changes nothing where a date comes later, or goes again", () => {
    const watch = byHand()
    watch.baseline(...known)
    expect(watch.sweep(...stable)).toEqual([])
    expect(watch.sweep(...known)).toEqual([])
    expect(watch.finds(stable[0]!)).toEqual([])
    expect(watch.sweep(...stable)).toEqual([])
  })
})
