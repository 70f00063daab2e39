import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { covers, type Fate, fateOf, HeldNodes, nextEnd, withSilences } from "../../src/deliver/Silences.ts"
import type { StoredEvent } from "../../src/store/accounts.ts"
import { type Silence, silenceState } from "../../src/store/silences.ts"

const silence = (over: Partial<Silence> = {}): Silence => ({
  id: "s",
  nodes: ["web-*"],
  accounts: [],
  sinks: [],
  fromMillis: 100,
  untilMillis: 200,
  reason: "new disks",
  atEnd: "deliver",
  ...over
})

const event = (atMillis: number, names: ReadonlyArray<string>, over: Partial<StoredEvent> = {}): StoredEvent => ({
  account: "acme",
  seq: 1,
  id: "id-1",
  type: "berth.node.changed",
  node: 1,
  atMillis,
  body: JSON.stringify({ data: { before: { name: names[0] }, after: { name: names.at(-1) } } }),
  ...over
})

const outage = event(150, [], { node: null, type: "berth.watch.degraded" })

describe("a silence", () => {
  it("covers what happens from its begin until its end", () => {
    expect([99, 100, 199, 200].map((at) => covers(silence(), "ops", event(at, ["web-1"])))).toEqual([
      false,
      true,
      true,
      false
    ])
    expect([99, 100, 199, 200].map((at) => silenceState(silence(), at))).toEqual([
      "planned",
      "active",
      "active",
      "over"
    ])
    // A silence that was cancelled before it began.
    expect(silenceState(silence({ untilMillis: 50 }), 60)).toBe("over")
    expect(covers(silence({ untilMillis: 50 }), "ops", event(150, ["web-1"]))).toBe(false)
  })

  it("matches nodes by both names after a rename, and accounts and sinks", () => {
    const of = (over: Partial<Silence>, names: ReadonlyArray<string>) => covers(silence(over), "ops", event(150, names))
    expect([of({}, ["db-1"]), of({}, ["db-1", "web-1"]), of({}, ["web-1", "db-1"])]).toEqual([false, true, true])
    expect([of({ accounts: ["other"] }, ["web-1"]), of({ accounts: ["acme"] }, ["web-1"])]).toEqual([false, true])
    expect([of({ sinks: ["chat"] }, ["web-1"]), of({ sinks: ["chat", "ops"] }, ["web-1"])]).toEqual([false, true])
  })

  it("of an account also covers events about no node; a silence of nodes does not", () => {
    expect(covers(silence(), "ops", outage)).toBe(false)
    expect(covers(silence({ nodes: [], accounts: ["acme"] }), "ops", outage)).toBe(true)
    expect(covers(silence({ nodes: [], accounts: ["acme"] }), "ops", event(150, ["any"]))).toBe(true)
  })

  it("never covers an event of the daemon itself", () => {
    const all = silence({ nodes: [], accounts: [] })
    expect(covers(all, "ops", { ...outage, account: "_daemon" })).toBe(false)
  })

  it("holds events until the last silence is over, and drops only events that all of them drop", () => {
    const drop = silence({ id: "a", atEnd: "drop" })
    const later = silence({ id: "b", untilMillis: 300 })
    expect([150, 250, 300].map((now) => fateOf([drop, later], now, null))).toEqual(["hold", "hold", "hand"])
    expect(fateOf([drop, { ...later, atEnd: "drop" }], 300, null)).toBe("drop")
    expect(fateOf([], 300, null)).toBe("hand")
    expect([nextEnd([drop, later], 150), nextEnd([drop, later], 250), nextEnd([drop, later], 300)]).toEqual([
      200,
      300,
      null
    ])
  })

  it("that was over when a person requested a replay drops nothing", () => {
    const drop = silence({ atEnd: "drop" })
    expect([null, 150, 200].map((replayed) => fateOf([drop], 400, replayed))).toEqual(["drop", "drop", "hand"])
  })

  it("is named in the events that it held, under the same id", () => {
    const body = JSON.stringify({ id: "id-1", data: { after: null } })
    expect(JSON.parse(withSilences(body, [silence()]))).toEqual({
      id: "id-1",
      data: { after: null, silenced: [{ id: "s", reason: "new disks" }] }
    })
    expect(withSilences(body, [])).toBe(body)
  })
})

/** The steps of a sink's history. */
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("event" as const), node: fc.integer({ min: 0, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("rename" as const), node: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("wait" as const), millis: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("read" as const), max: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("release" as const), max: fc.integer({ min: 1, max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("kill" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("silence" as const),
      nodes: fc.constantFrom<ReadonlyArray<string>>([], ["web-*"], ["*-1", "db-2"]),
      delay: fc.integer({ min: 0, max: 30 }),
      length: fc.integer({ min: 1, max: 100 }),
      atEnd: fc.constantFrom("deliver" as const, "drop" as const)
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("end" as const),
      index: fc.nat(),
      atEnd: fc.constantFrom("deliver" as const, "drop" as const)
    })
  }
)
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

/**
 * A sink and its reader: the log, the events that were read, the events that the store holds, and when each event was handed over or given
 * up.
 */
class Sink {
  now = 0
  readonly names = new Map([1, 2, 3].map((node) => [node, `web-${node}`]))
  readonly silences: Array<Silence> = []
  readonly log: Array<StoredEvent> = []
  readonly settled: Array<{ readonly event: StoredEvent; readonly fate: Fate; readonly atMillis: number }> = []
  #read = 0
  #held: Array<StoredEvent> = []
  #nodes = new HeldNodes()
  #pass: number | null = null

  #covering(event: StoredEvent) {
    return this.silences.filter((each) => covers(each, "ops", event))
  }

  #emit(node: number, names: ReadonlyArray<string>) {
    const seq = this.log.length + 1
    this.log.push(event(this.now, names, { seq, id: `id-${seq}`, node: node === 0 ? null : node }))
  }

  /** Continues a pass, or begins one that is due; returns whether the sink may read now. */
  release(max: number): boolean {
    if (this.#pass === null && !this.#nodes.beginPass(this.silences, this.now)) return true
    const behind = this.#pass ?? 0
    const some = this.#held.filter(({ seq }) => seq > behind).slice(0, max)
    for (const each of some) {
      const fate = this.#nodes.fateOfHeld(keyOf(each), fateOf(this.#covering(each), this.now, null))
      if (fate === "hold") continue
      this.settled.push({ event: each, fate, atMillis: this.now })
      this.#held = this.#held.filter(({ seq }) => seq !== each.seq)
    }
    this.#pass = some.length < max ? null : some.at(-1)!.seq
    if (this.#pass === null) this.#nodes.endPass()
    return this.#pass === null
  }

  read(max: number) {
    if (!this.release(max)) return
    for (const each of this.log.slice(this.#read, this.#read + max)) {
      const fate = this.#nodes.fateOfNew(keyOf(each), fateOf(this.#covering(each), this.now, null))
      if (fate === "hold") this.#held.push(each)
      else this.settled.push({ event: each, fate, atMillis: this.now })
      this.#read++
    }
  }

  apply(step: Action) {
    switch (step.do) {
      case "event":
        return this.#emit(step.node, step.node === 0 ? [] : [this.names.get(step.node)!])
      case "rename": {
        const before = this.names.get(step.node)!
        const after = before.startsWith("web") ? `db-${step.node}` : `web-${step.node}`
        this.names.set(step.node, after)
        return this.#emit(step.node, [before, after])
      }
      case "wait":
        this.now += step.millis
        return
      case "read":
        return this.read(step.max)
      case "release":
        this.release(step.max)
        return
      case "kill":
        // The process loses all its knowledge; the store keeps everything.
        this.#nodes = new HeldNodes()
        this.#pass = null
        return
      case "silence": {
        // The clock has advanced since the last event, so that an event that is committed later also happens later.
        const fromMillis = ++this.now + step.delay
        const { nodes, atEnd } = step
        const id = `s-${this.silences.length}`
        this.silences.push(silence({ id, nodes, atEnd, fromMillis, untilMillis: fromMillis + step.length }))
        return
      }
      case "end": {
        const index = step.index % Math.max(this.silences.length, 1)
        const found = this.silences[index]
        if (found === undefined || found.untilMillis <= this.now) return
        this.silences[index] = { ...found, untilMillis: this.now, atEnd: step.atEnd }
      }
    }
  }

  /** All silences end, and everything is read. */
  finish() {
    this.now += 1000
    for (let steps = 0; steps < 500; steps++) this.read(3)
  }
}

const keyOf = ({ account, node }: StoredEvent) => ({ account, node: node ?? 0 })

describe("silences, in whatever order events, ends and kills come", () => {
  const histories = fc.array(action, { minLength: 20, maxLength: 120, size: "max" }).map((actions) => {
    const sink = new Sink()
    for (const each of actions) sink.apply(each)
    sink.finish()
    return sink
  })
  const always = (check: (sink: Sink) => void) => () => fc.assert(fc.property(histories, check), { numRuns: 200 })

  it(
    "hand over each event once, or give it up",
    always(({ log, settled }) => {
      expect(settled.map(({ event }) => event.seq).toSorted((a, b) => a - b)).toEqual(log.map(({ seq }) => seq))
    })
  )

  it(
    "give up what all silences that cover it give up, and nothing else",
    always(({ settled, silences }) => {
      for (const { event, fate } of settled) {
        const covering = silences.filter((each) => covers(each, "ops", event))
        expect(fate).toBe(covering.length > 0 && covering.every(({ atEnd }) => atEnd === "drop") ? "drop" : "hand")
      }
    })
  )

  it(
    "hand nothing over while one that covers it lasts",
    always(({ settled, silences }) => {
      for (const { atMillis, event } of settled) {
        const covering = silences.filter((each) => covers(each, "ops", event))
        expect(atMillis).toBeGreaterThanOrEqual(Math.max(0, ...covering.map(({ untilMillis }) => untilMillis)))
      }
    })
  )

  it(
    "keep the order of each node",
    always(({ settled }) => {
      for (const node of [null, 1, 2, 3]) {
        const handed = settled.filter(({ event, fate }) => event.node === node && fate === "hand")
        const seqs = handed.map(({ event }) => event.seq)
        expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
      }
    })
  )
})
