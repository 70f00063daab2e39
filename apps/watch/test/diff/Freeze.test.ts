import { describe, expect, it } from "@effect/vitest"
import { questions } from "../../src/diff/Question.ts"
import { defaultRules } from "../../src/diff/Snapshot.ts"
import { aNode } from "./aNode.ts"
import { byHand, type ByHand, denyTwice, types } from "./byHand.ts"

const nodes = (count: number) => Array.from({ length: count }, (_, index) => aNode({ id: index + 1 }))
const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** Sweeps that show `shown`, one every 30 s, for so long. */
const sweepFor = (watch: ReturnType<typeof byHand>, millis: number, shown: ReturnType<typeof nodes>) =>
  Array.from({ length: millis / 30_000 }, () => {
    watch.pass(30_000)
    return watch.sweep(...shown)
  }).flat()

describe("a list too short to be believed", () => {
  it("freezes deletions when three or more nodes, and 5 % of the account, are missing at once", () => {
    const watch = byHand()
    watch.baseline(...nodes(60))
    expect(watch.sweep(...nodes(57))).toMatchObject([
      { type: "berth.watch.degraded", trouble: "nodes-vanished", expected: 60, missing: 3 }
    ])
    expect(denyTwice(watch, [58, 59, 60])).toEqual([])
    expect(watch.sweep(...nodes(57))).toEqual([])
  })

  it("is not one that lacks two nodes of many, or less than 5 %", () => {
    for (const [count, lost] of [
      [10, 2],
      [100, 4]
    ] as const) {
      const watch = byHand()
      watch.baseline(...nodes(count))
      expect(watch.sweep(...nodes(count - lost))).toEqual([])
      watch.sweep(...nodes(count - lost))
      const gone = [...denyTwice(watch, ids(count - lost + 1, count)), ...watch.sweep(...nodes(count - lost))]
      expect(types(gone)).toEqual(Array.from({ length: lost }, () => "node.deleted"))
    }
  })

  it("is one that lacks all nodes of an account of two, but not of one", () => {
    const two = byHand()
    two.baseline(...nodes(2))
    expect(two.sweep()).toMatchObject([{ type: "berth.watch.degraded", trouble: "list-empty", missing: 2 }])
    const one = byHand()
    one.baseline(...nodes(1))
    expect(one.sweep()).toEqual([])
  })

  it("is not one that lacks only nodes seen terminating", () => {
    const watch = byHand()
    watch.baseline(...nodes(5).map((node) => ({ ...node, status: "terminate" as const })))
    expect(watch.sweep()).toEqual([])
  })

  it("counts nodes that were lost one after the other within five minutes", () => {
    const watch = byHand()
    watch.baseline(...nodes(10))
    for (const left of [9, 8]) {
      watch.sweep(...nodes(left))
      watch.misses(left + 1)
      watch.pass(30_000)
      watch.sweep(...nodes(left))
      watch.pass(30_000)
      expect(types(watch.misses(left + 1))).toEqual(["node.deleted"])
    }
    expect(watch.sweep(...nodes(7))).toMatchObject([{ type: "berth.watch.degraded", missing: 3, expected: 10 }])
  })

  it.each([
    { within: "five minutes", rules: defaultRules, apartMillis: 120_000, isMany: true },
    { within: "five minutes", rules: defaultRules, apartMillis: 240_000, isMany: false },
    { within: "two sweeps", rules: { ...defaultRules, sweepMillis: 3_600_000 }, apartMillis: 3_000_000, isMany: true },
    { within: "two sweeps", rules: { ...defaultRules, sweepMillis: 3_600_000 }, apartMillis: 4_000_000, isMany: false }
  ])("counts nodes that were lost within $within, $apartMillis ms apart: $isMany", ({ apartMillis, isMany, rules }) => {
    const watch = byHand(rules)
    watch.baseline(...nodes(10))
    const degraded = []
    for (const left of [9, 8, 7]) {
      watch.sweep(...nodes(left))
      denyTwice(watch, [left + 1])
      degraded.push(...watch.sweep(...nodes(left)).filter(({ type }) => type === "berth.watch.degraded"))
      watch.pass(apartMillis - 60_000)
    }
    // A time without a sweep is an outage of its own.
    expect(watch.standing.freeze !== null).toBe(isMany)
  })

  it("lacks nodes: reads that answer 404 for nodes it has make none of them missing", () => {
    const watch = byHand()
    watch.baseline(...nodes(10))
    const sweep = watch.begin()
    sweep.page(...nodes(10))
    for (const id of ids(1, 5)) watch.misses(id)
    expect(sweep.end()).toEqual([])
  })

  it("freezes nothing for what was lost already, while nothing else is missing", () => {
    const watch = byHand(defaultRules)
    const [first, second, third] = nodes(3)
    watch.baseline(first!, second!, third!)
    watch.sweep(third!)
    watch.sweep(third!)
    expect(types([...denyTwice(watch, [1, 2]), ...watch.sweep(third!)])).toEqual(["node.deleted", "node.deleted"])
    const terminating = { ...third!, status: "terminate" as const }
    expect(types(sweepFor(watch, 300_000, [terminating]))).toEqual(["node.status_changed"])
  })

  it("is measured against the nodes that are not expected to go", () => {
    const watch = byHand()
    const terminating = nodes(100).map((node) => (node.id > 50 ? { ...node, status: "terminate" as const } : node))
    watch.baseline(...terminating)
    expect(watch.sweep(...terminating.slice(3))).toMatchObject([{ type: "berth.watch.degraded", expected: 50 }])
  })

  it("is measured against the nodes that were not missing for a whole hold", () => {
    const watch = byHand()
    watch.baseline(...nodes(100))
    watch.sweep(...nodes(50))
    for (const id of watch.snapshot.evidence.batches[0]!.sample) watch.misses(id)
    expect(types(sweepFor(watch, 600_000, nodes(50)))).toEqual(["watch.recovered"])
    expect(watch.sweep(...nodes(47))).toMatchObject([{ type: "berth.watch.degraded", expected: 50, missing: 3 }])
  })

  it("does not stay frozen for nodes that are expected to go", () => {
    const watch = byHand()
    const terminating = nodes(10).map((node) => (node.id > 5 ? { ...node, status: "terminate" as const } : node))
    watch.baseline(...terminating)
    watch.sweep()
    watch.sweep(...nodes(5))
    expect(watch.standing.freeze).toBeNull()
  })

  it("has persisted when some were missing for the whole hold, though the last one is back", () => {
    const watch = byHand()
    watch.baseline(...nodes(6))
    watch.sweep(...nodes(2))
    for (const id of ids(3, 6)) watch.misses(id)
    sweepFor(watch, 300_000, nodes(2))
    sweepFor(watch, 330_000, nodes(1))
    expect(watch.sweep(...nodes(2))).toMatchObject([{ type: "berth.watch.recovered", ending: "persisted" }])
  })

  it("does not count the hold of a node that it has", () => {
    const watch = byHand(defaultRules)
    watch.baseline(...nodes(5))
    watch.pass(900_000)
    const sweep = watch.begin()
    sweep.page(...nodes(5))
    watch.misses(1)
    sweep.end()
    expect([...watch.absences().values()]).toMatchObject([{ sweeps: 0, since: null }])
  })

  it("is plausible again when the nodes are back, and nothing was deleted", () => {
    const watch = byHand()
    watch.baseline(...nodes(5))
    watch.sweep()
    denyTwice(watch, [1, 2, 3])
    expect(watch.sweep(...nodes(5))).toEqual([])
    expect(sweepFor(watch, 30_000, nodes(5))).toEqual([])
    expect(sweepFor(watch, 30_000, nodes(5))).toMatchObject([
      { type: "berth.watch.recovered", trouble: "list-empty", ending: "plausible" }
    ])
  })

  it("is one trouble while nodes vanish and come back again and again, over a restart too", () => {
    const watch = byHand()
    watch.baseline(...nodes(10))
    const storm = () => [5, 10, 0, 10, 4, 10].flatMap((count) => sweepFor(watch, 30_000, nodes(count)))
    expect(types(storm())).toEqual(["watch.degraded"])
    watch.restart()
    expect(storm()).toEqual([])
    const facts = sweepFor(watch, 600_000, nodes(10))
    expect(facts).toMatchObject([{ type: "berth.watch.recovered", trouble: "nodes-vanished", ending: "plausible" }])
    expect(watch.standing.settling).toBeNull()
  })

  it("lets a node be deleted as soon as the others are back, though its end is not reported yet", () => {
    const watch = byHand()
    watch.baseline(...nodes(50))
    watch.sweep(...nodes(10))
    expect(watch.sweep(...nodes(50))).toEqual([])
    watch.sweep(...nodes(49))
    expect(types([...denyTwice(watch, [50]), ...watch.sweep(...nodes(49))])).toContain("node.deleted")
  })

  it("stays frozen while a remainder is missing, however small", () => {
    const watch = byHand()
    watch.baseline(...nodes(5))
    watch.sweep(...nodes(1))
    expect(watch.sweep(...nodes(4))).toEqual([])
    denyTwice(watch, [5])
    expect(watch.sweep(...nodes(4))).toEqual([])
    expect(watch.standing.freeze).not.toBeNull()
    watch.sweep(...nodes(5))
    expect(watch.standing.freeze).toBeNull()
  })

  it("is believed after the hold, and then each node has to answer 404 anew", () => {
    const watch = byHand()
    watch.baseline(...nodes(5))
    watch.sweep(...nodes(1))
    denyTwice(watch, [2, 3, 4, 5])
    const facts = sweepFor(watch, 600_000, nodes(1))
    expect(types(facts)).toEqual(["watch.recovered"])
    expect(facts).toMatchObject([{ ending: "persisted" }])
    expect(watch.sweep(...nodes(1))).toEqual([])
    watch.finds(aNode({ id: 2 }))
    expect(types([...denyTwice(watch, [3, 4, 5]), ...watch.sweep(...nodes(1))])).toEqual(
      Array.from({ length: 3 }, () => "node.deleted")
    )
    // What was missing for the whole hold is not too much at once.
    expect(watch.sweep(...nodes(1))).toEqual([])
  })

  it("lets those whose hold is over be deleted while it lasts for another", () => {
    const watch = byHand()
    watch.baseline(...nodes(6))
    watch.sweep(...nodes(2))
    for (const id of ids(3, 6)) watch.misses(id)
    sweepFor(watch, 300_000, nodes(2))
    expect(sweepFor(watch, 330_000, nodes(1))).toEqual([])
    const gone = [...denyTwice(watch, ids(3, 6)), ...watch.sweep(...nodes(1))]
    expect(types(gone)).toEqual(ids(3, 6).map(() => "node.deleted"))
    expect(watch.standing.freeze).not.toBeNull()
    // That one is there again: the list was right about the others.
    expect(watch.sweep(...nodes(2))).toMatchObject([{ type: "berth.watch.recovered", ending: "persisted" }])
  })

  it("counts the hold of each node from its own absence, and not over a restart", () => {
    const watch = byHand()
    watch.baseline(...nodes(6))
    watch.sweep(...nodes(2))
    denyTwice(watch, [3, 4, 5, 6])
    sweepFor(watch, 300_000, nodes(2))
    watch.sweep(...nodes(1))
    watch.misses(2)
    expect(sweepFor(watch, 300_000, nodes(1))).toEqual([])
    watch.restart()
    for (const id of [2, 3, 4, 5, 6]) watch.misses(id)
    expect(sweepFor(watch, 600_000, nodes(1))).toEqual([])
    expect(types(sweepFor(watch, 60_000, nodes(1)))).toEqual(["watch.recovered"])
  })

  it("counts the hold from the end of the sweep that lacked a node, not from its begin", () => {
    const watch = byHand()
    watch.baseline(...nodes(5))
    for (const id of [2, 3, 4, 5]) watch.misses(id)
    const sweep = watch.begin()
    watch.pass(300_000)
    sweep.page(...nodes(1))
    sweep.end()
    expect(sweepFor(watch, 570_000, nodes(1))).toEqual([])
    expect(types(sweepFor(watch, 30_000, nodes(1)))).toEqual(["watch.recovered"])
  })

  it("counts the hold of a node only from its first 404, however long the list lacks it", () => {
    const watch = byHand(defaultRules)
    watch.baseline(...nodes(5))
    sweepFor(watch, 3_600_000, nodes(1))
    for (const id of [2, 3, 4, 5]) watch.misses(id)
    expect(sweepFor(watch, 570_000, nodes(1))).toEqual([])
    expect(types(sweepFor(watch, 30_000, nodes(1)))).toEqual(["watch.recovered"])
  })

  it("counts no time without a complete sweep for the hold", () => {
    const watch = byHand(defaultRules)
    watch.baseline(...nodes(5))
    watch.sweep(...nodes(1))
    for (const id of [2, 3, 4, 5]) watch.misses(id)
    watch.pass(900_000)
    watch.fails()
    expect(watch.sweep(...nodes(1))).toEqual([])
    expect(types(sweepFor(watch, 570_000, nodes(1)))).toEqual(["watch.recovered"])
    expect(watch.standing.freeze).not.toBeNull()
    expect(types(sweepFor(watch, 30_000, nodes(1)))).toEqual(["watch.recovered"])
    expect(watch.standing.freeze).toBeNull()
  })

  it("has its missing nodes read again every five minutes, also those that two reads denied", () => {
    const watch = byHand()
    watch.baseline(...nodes(5))
    watch.sweep(...nodes(1))
    denyTwice(watch, [2, 3, 4, 5])
    watch.pass(60_000)
    const due = () => questions(watch.snapshot, defaultRules).map(({ dueMonotonicMillis: at }) => at - watch.now())
    expect(due()).toEqual([240_000, 240_000, 240_000, 240_000])
    watch.pass(240_000)
    watch.misses(2)
    expect(due()).toEqual([300_000, 0, 0, 0])
  })

  it("does not lack nodes whose records have no id that can be read", () => {
    const watch = byHand()
    watch.baseline(...nodes(5))
    const sweep = watch.begin()
    sweep.page(...nodes(2))
    expect(sweep.end(3)).toEqual([])
  })
})

describe("more than twenty suspects", () => {
  const terminating = nodes(100).map((node) => ({ ...node, status: "terminate" as const }))
  const vanished = () => {
    const watch = byHand()
    watch.baseline(...terminating)
    watch.sweep()
    return { watch, sample: [...watch.snapshot.evidence.batches[0]!.sample] }
  }

  const frozen = () => {
    const watch = byHand()
    watch.baseline(...nodes(100))
    watch.sweep()
    return { watch, sample: [...watch.snapshot.evidence.batches[0]!.sample] }
  }

  /** The members of the one batch that are read. */
  const sampleOf = ({ snapshot }: ByHand) => [...snapshot.evidence.batches[0]!.sample]
  const widerOf = ({ snapshot }: ByHand) => [...snapshot.evidence.batches[0]!.wider]
  const deletions = (length: number) => Array.from({ length }, () => "node.deleted")

  /** The reads that are wanted of suspects now. */
  const due = (watch: ByHand) =>
    questions(watch.snapshot, defaultRules)
      .filter(({ dueMonotonicMillis, kind }) => kind === "suspect" && dueMonotonicMillis <= watch.now())
      .map(({ id }) => id)

  it("are read twenty of them twice and forty once; the others are gone after a third sweep a grace after the first", () => {
    const { sample, watch } = vanished()
    expect(sample).toHaveLength(20)
    const first = [...denyTwice(watch, sample, 5000), ...watch.sweep()]
    expect(types(first)).toEqual(deletions(20))
    const more = due(watch)
    expect(more).toHaveLength(40)
    for (const id of more) expect(watch.misses(id)).toEqual([])
    expect(due(watch)).toEqual([])
    expect(types(watch.sweep())).toEqual(deletions(80))
  })

  it("are not gone after two sweeps, however often those that are read answered 404", () => {
    const { sample, watch } = vanished()
    denyTwice(watch, sample, 2500)
    watch.pass(2499)
    for (const id of sample) watch.misses(id)
    watch.sweep()
    expect(widerOf(watch)).toEqual([])
    watch.pass(1)
    expect(types(sample.flatMap((id) => watch.misses(id)))).toEqual(deletions(20))
    expect(denyTwice(watch, widerOf(watch), 4999)).toEqual([])
    expect(types(watch.sweep())).toEqual(deletions(80))
  })

  it("are joined by those that the next sweep lacks, of which few more are read", () => {
    const watch = byHand()
    watch.baseline(...terminating)
    watch.sweep(...terminating.slice(60))
    denyTwice(watch, sampleOf(watch), 5000)
    watch.sweep()
    expect(watch.snapshot.evidence.batches).toHaveLength(1)
    const more = due(watch)
    expect(more.length).toBeLessThan(15)
    expect(sampleOf(watch).filter((id) => id > 60)).toEqual(expect.arrayContaining(more))
    denyTwice(watch, more, 5000)
    for (const id of due(watch)) watch.misses(id)
    // The first sixty lack a third sweep, and the others one more.
    watch.sweep()
    watch.sweep()
    expect(watch.snapshot.nodes.size).toBe(0)
  })

  it("are not held up by others that only a third sweep lacks", () => {
    const watch = byHand()
    watch.baseline(...terminating)
    watch.sweep(...terminating.slice(60))
    denyTwice(watch, sampleOf(watch), 5000)
    watch.sweep(...terminating.slice(60))
    for (const id of widerOf(watch)) watch.misses(id)
    expect(types(watch.sweep())).toEqual(deletions(40))
    expect(watch.snapshot.evidence.batches.map(({ members }) => members.size)).toEqual([60, 40])
  })

  it("that the sample denied before the first sweep are gone after a third one that begins a grace after it", () => {
    const first = vanished().sample
    const watch = byHand()
    watch.baseline(...terminating)
    denyTwice(watch, first, 5000)
    expect([...watch.sweep(), ...watch.sweep()]).toHaveLength(20)
    for (const id of widerOf(watch)) watch.misses(id)
    expect(watch.sweep()).toEqual([])
    const late = watch.begin()
    watch.pass(5000)
    expect(late.end()).toEqual([])
    expect(types(watch.sweep())).toEqual(deletions(80))
  })

  it("are gone also when some of the wider sample were confirmed before it was drawn", () => {
    const { watch: other, sample: first } = vanished()
    denyTwice(other, first, 5000)
    other.sweep()
    const watch = byHand()
    watch.baseline(...terminating)
    denyTwice(watch, widerOf(other).slice(10), 5000)
    watch.sweep()
    denyTwice(watch, first, 5000)
    watch.sweep()
    for (const id of widerOf(other).slice(0, 10)) watch.misses(id)
    watch.sweep()
    expect(watch.snapshot.nodes.size).toBe(0)
    watch.sweep()
    expect(watch.snapshot.evidence.batches).toEqual([])
  })

  it("are read by a wider sample once their hold is over, also while that of another node is not", () => {
    const watch = byHand()
    const other = aNode({ id: 101 })
    watch.baseline(...nodes(100), other)
    watch.sweep(other)
    denyTwice(watch, sampleOf(watch))
    sweepFor(watch, 300_000, [other])
    sweepFor(watch, 330_000, [])
    expect(watch.standing.freeze).not.toBeNull()
    denyTwice(watch, sampleOf(watch))
    expect(widerOf(watch)).toHaveLength(40)
  })

  it("are read once in a freeze, and five of them every five minutes", () => {
    const { sample, watch } = frozen()
    expect(due(watch)).toHaveLength(20)
    for (const id of sample) watch.misses(id)
    watch.pass(299_999)
    expect(due(watch)).toEqual([])
    watch.pass(1)
    expect(due(watch)).toHaveLength(5)
  })

  it("answer 404 once more after the hold where they did before it, a grace after it", () => {
    const { sample, watch } = frozen()
    for (const id of sample) watch.misses(id)
    sweepFor(watch, 600_000, [])
    watch.sweep()
    watch.pass(59_999)
    expect(due(watch)).toEqual([])
    watch.pass(1)
    expect(new Set(due(watch))).toEqual(new Set(sample))
    expect(types(sample.flatMap((id) => watch.misses(id)))).toEqual(deletions(20))
    const wider = due(watch)
    expect(wider).toHaveLength(40)
    expect(types([...wider.flatMap((id) => watch.misses(id)), ...watch.sweep()])).toEqual(deletions(80))
  })

  it("are those that the list lacks: single reads that answer 404 make no batch", () => {
    const watch = byHand()
    watch.baseline(...nodes(100))
    const sweep = watch.begin()
    sweep.page(...nodes(100))
    for (const id of ids(1, 30)) watch.misses(id)
    sweep.end()
    expect(watch.absences().size).toBe(30)
    expect(watch.snapshot.evidence.batches).toEqual([])
  })

  it("freeze when one of the wider sample is there, however many of the first one are gone", () => {
    const { sample, watch } = vanished()
    denyTwice(watch, sample, 5000)
    watch.sweep()
    const [alive, ...gone] = widerOf(watch)
    for (const id of gone) watch.misses(id)
    expect(types(watch.finds(terminating[alive! - 1]!))).toEqual(["watch.degraded"])
    expect(types([...watch.sweep(), ...watch.sweep()])).toEqual([])
  })

  it("are not read by a wider sample before the hold is over", () => {
    const { sample, watch } = frozen()
    denyTwice(watch, sample)
    watch.sweep()
    expect(widerOf(watch)).toEqual([])
    sweepFor(watch, 600_000, [])
    denyTwice(watch, sampleOf(watch))
    expect(widerOf(watch)).toHaveLength(40)
  })

  it("count the hold of those that are not read from the first 404 of the sample", () => {
    const { sample, watch } = frozen()
    sweepFor(watch, 600_000, [])
    expect(watch.standing.freeze).not.toBeNull()
    for (const id of sample) watch.misses(id)
    expect(sweepFor(watch, 570_000, [])).toEqual([])
    expect(types(sweepFor(watch, 30_000, []))).toEqual(["watch.recovered"])
  })

  it("are held together with the first of the sample, whose hold stands for those that are not read", () => {
    const { sample, watch } = frozen()
    watch.misses(sample[0]!)
    sweepFor(watch, 30_000, [])
    for (const id of sample.slice(1)) watch.misses(id)
    sweepFor(watch, 570_000, [])
    expect([...watch.absences().values()].filter(({ held }) => held)).toHaveLength(81)
    expect(types(sweepFor(watch, 30_000, []))).toEqual(["watch.recovered"])
  })

  it("keep what the sample showed of them when the hold of others is over and another sample is drawn", () => {
    const watch = byHand()
    watch.baseline(...nodes(100))
    const early = ids(90, 100)
    watch.sweep(...nodes(89))
    for (const id of early) watch.misses(id)
    sweepFor(watch, 30_000, [])
    const sample = sampleOf(watch)
    expect(sample.some((id) => id >= 90)).toBe(true)
    for (const id of sample) watch.misses(id)
    expect(sweepFor(watch, 570_000, [])).toEqual([])
    expect(sampleOf(watch).every((id) => sample.includes(id))).toBe(false)
    expect(types(sweepFor(watch, 30_000, []))).toEqual(["watch.recovered"])
  })

  it("freeze when one of the sample is there, and none of them is gone before the hold", () => {
    const { sample, watch } = vanished()
    for (const id of sample.slice(1)) watch.misses(id)
    expect(types(watch.finds(terminating[sample[0]! - 1]!))).toEqual(["watch.degraded"])
    watch.pass(60_000)
    for (const id of sample.slice(1)) watch.misses(id)
    expect(types(sweepFor(watch, 300_000, []))).toEqual([])
  })

  it("count the hold anew after one of them was there", () => {
    const { sample, watch } = vanished()
    for (const id of sample.slice(1)) watch.misses(id)
    sweepFor(watch, 300_000, [])
    watch.finds(terminating[sample[0]! - 1]!)
    watch.sweep()
    for (const id of sampleOf(watch)) watch.misses(id)
    expect(sweepFor(watch, 570_000, [])).toEqual([])
    expect(types(sweepFor(watch, 30_000, []))).toEqual(["watch.recovered"])
  })

  it("keep the hold of those that reads denied themselves, while the list lacks another node each time", () => {
    const watch = byHand()
    const all = nodes(100)
    const [gone, others] = [all.slice(0, 20), all.slice(20)]
    watch.baseline(...all)
    for (const other of others.slice(0, 22)) {
      watch.sweep(...others.filter((node) => node !== other))
      for (const { id } of gone) watch.misses(id)
      watch.finds(other)
      watch.pass(30_000)
    }
    expect([...watch.absences().values()].filter(({ held }) => held)).toHaveLength(20)
    const facts = denyTwice(
      watch,
      gone.map(({ id }) => id)
    )
    expect(types([...facts, ...watch.sweep(...others)]).filter((type) => type === "node.deleted")).toEqual(
      deletions(20)
    )
  })

  it("freeze anew when one of them is there after the hold, and none is gone that was held", () => {
    const { sample, watch } = frozen()
    for (const id of sample) watch.misses(id)
    expect(types(sweepFor(watch, 600_000, []))).toEqual(["watch.recovered"])
    const [alive, ...gone] = sampleOf(watch)
    denyTwice(watch, gone)
    expect(types(watch.finds(aNode({ id: alive! })))).toEqual(["watch.degraded"])
    expect(watch.sweep()).toEqual([])
    expect([...denyTwice(watch, sampleOf(watch)), ...watch.sweep(), ...watch.sweep()]).toEqual([])
  })

  it("are not held by a sample of which a page shows one", () => {
    const { sample, watch } = frozen()
    for (const id of sample) watch.misses(id)
    sweepFor(watch, 570_000, [])
    watch.tail(aNode({ id: sample[0]! }))
    sweepFor(watch, 30_000, [])
    expect([...watch.absences().values()].filter(({ held }) => held)).toHaveLength(19)
  })

  it("are not read before the next sweep when one of the sample is there, also where only a page shows it", () => {
    const { sample, watch } = vanished()
    for (const id of sample.slice(1)) watch.misses(id)
    watch.pass(5000)
    for (const id of sample.slice(1)) watch.misses(id)
    watch.tail(terminating[sample[0]! - 1]!)
    expect(watch.snapshot.evidence.batches).toMatchObject([{ refuted: true }])
    expect(questions(watch.snapshot, defaultRules).filter(({ kind }) => kind === "suspect")).toEqual([])
    expect(watch.standing.freeze).toBeNull()
    watch.sweep()
    expect(watch.snapshot.evidence.batches).toMatchObject([{ refuted: false }])
  })
})
