import { describe, expect, it } from "@effect/vitest"
import { defaultRules } from "../../src/diff/Snapshot.ts"
import { aNode } from "./aNode.ts"
import { byHand, types } from "./byHand.ts"

describe("failed requests", () => {
  it("are an outage when three fail in a row, which is reported once and ends once", () => {
    const watch = byHand(defaultRules)
    watch.baseline(aNode({ id: 1 }))
    const since = watch.pass(30_000)
    expect([...watch.fails(), ...watch.fails()]).toEqual([])
    expect(watch.fails()).toMatchObject([
      { type: "berth.watch.degraded", trouble: "sweep-failed", message: "The service failed.", expected: 1, missing: 0 }
    ])
    expect(watch.fails()).toEqual([])
    watch.pass(60_000)
    expect(watch.sweep(aNode({ id: 1 }))).toMatchObject([
      { type: "berth.watch.recovered", trouble: "sweep-failed", ending: "reachable", sinceMillis: since }
    ])
  })

  it("are none when every second or third is answered", () => {
    const watch = byHand(defaultRules)
    watch.baseline(aNode({ id: 1 }))
    for (let n = 0; n < 100; n++) {
      expect([...watch.fails(), ...watch.fails(), ...watch.sweep(aNode({ id: 1 }))]).toEqual([])
      watch.pass(1000)
    }
  })

  it("keep an outage from ending until there was none for a minute", () => {
    const watch = byHand(defaultRules)
    watch.baseline(aNode({ id: 1 }))
    expect(types([...watch.fails(), ...watch.fails(), ...watch.fails()])).toEqual(["watch.degraded"])
    for (let n = 0; n < 10; n++) {
      watch.pass(30_000)
      expect(watch.sweep(aNode({ id: 1 }))).toEqual([])
      watch.fails()
    }
    watch.pass(60_000)
    expect(types(watch.sweep(aNode({ id: 1 })))).toEqual(["watch.recovered"])
  })
})

describe("a time without a complete sweep", () => {
  it("is an outage if it is longer than a minute and than two planned sweeps", () => {
    const watch = byHand(defaultRules)
    watch.baseline(aNode({ id: 1 }))
    watch.pass(60_001)
    expect(types(watch.finds(aNode({ id: 1 })))).toEqual(["watch.degraded"])
  })

  it("is an outage even if requests are neither answered nor fail", () => {
    const watch = byHand(defaultRules)
    watch.baseline(aNode({ id: 1 }))
    watch.pass(60_000)
    expect(watch.waits()).toEqual([])
    watch.pass(1)
    expect(types(watch.waits())).toEqual(["watch.degraded"])
    expect(watch.waits()).toEqual([])
  })

  it("is none before a minute, however often sweeps are planned", () => {
    const watch = byHand({ ...defaultRules, sweepMillis: 9000 })
    watch.baseline(aNode({ id: 1 }))
    watch.pass(60_000)
    expect(watch.finds(aNode({ id: 1 }))).toEqual([])
  })

  it("ends before the baseline, too", () => {
    const watch = byHand(defaultRules)
    expect(types([...watch.fails(), ...watch.fails(), ...watch.fails()])).toEqual(["watch.degraded"])
    watch.pass(60_000)
    expect(types(watch.sweep(aNode({ id: 1 })))).toEqual(["watch.recovered"])
  })

  it("is none where the process stood still", () => {
    const watch = byHand(defaultRules)
    watch.baseline(aNode({ id: 1 }))
    expect(watch.pauses(3_600_000)).toEqual([])
    expect(watch.finds(aNode({ id: 1 }))).toEqual([])
  })
})

describe("another API key", () => {
  it("continues when the list has a node that is known", () => {
    const watch = byHand(defaultRules)
    watch.baseline(aNode({ id: 1 }), aNode({ id: 2 }))
    watch.restart("rotated")
    expect(watch.sweep(aNode({ id: 1, status: "power-off" }))).toEqual([])
    expect(types(watch.sweep(aNode({ id: 1, status: "power-off" })))).toEqual(["node.status_changed"])
    expect(watch.standing.fingerprint).toBe("rotated")
  })

  it("freezes everything when the list has none, until the key is the old one again", () => {
    const watch = byHand(defaultRules)
    watch.baseline(aNode({ id: 1 }), aNode({ id: 2 }))
    watch.restart("foreign")
    expect(types(watch.sweep(aNode({ id: 71 }), aNode({ id: 72 })))).toEqual(["watch.degraded"])
    watch.misses(1)
    expect(watch.sweep(aNode({ id: 71 }), aNode({ id: 72 }), aNode({ id: 73 }))).toEqual([])
    watch.restart("key")
    expect(types(watch.sweep(aNode({ id: 1 }), aNode({ id: 2 })))).toEqual(["watch.recovered"])
  })

  it("ends an outage while the list is that of another account", () => {
    const watch = byHand(defaultRules)
    watch.baseline(aNode({ id: 1 }))
    watch.restart("foreign")
    expect(types([...watch.fails(), ...watch.fails(), ...watch.fails()])).toEqual(["watch.degraded"])
    watch.pass(60_000)
    expect(types(watch.sweep(aNode({ id: 71 })))).toEqual(["watch.recovered", "watch.degraded"])
  })

  it("is not compared with none", () => {
    const watch = byHand(defaultRules)
    watch.restart(null)
    watch.baseline(aNode({ id: 1 }))
    watch.restart("key")
    expect(types(watch.sweep(aNode({ id: 1, status: "power-off" })))).toEqual(["node.status_changed"])
    watch.restart(null)
    expect(types(watch.sweep(aNode({ id: 1 })))).toEqual(["node.status_changed"])
  })

  it("is for the same account as far as can be known when that had no nodes", () => {
    const watch = byHand(defaultRules)
    watch.baseline()
    watch.restart("rotated")
    expect(watch.sweep(aNode({ id: 1 }))).toEqual([])
    expect(types(watch.sweep(aNode({ id: 1 })))).toEqual(["node.discovered"])
  })

  it("is for another account when only ids are the same", () => {
    const watch = byHand(defaultRules)
    watch.baseline(aNode({ id: 1 }))
    watch.restart("foreign")
    expect(types(watch.sweep(aNode({ id: 1, createdAtMillis: 500_000 })))).toEqual(["watch.degraded"])
  })

  it("is proved by a whole list, not by the end of one", () => {
    const watch = byHand(defaultRules)
    watch.baseline(aNode({ id: 1 }))
    watch.restart("foreign")
    watch.tail(aNode({ id: 1 }))
    expect(types(watch.sweep(aNode({ id: 71 })))).toEqual(["watch.degraded"])
  })
})
