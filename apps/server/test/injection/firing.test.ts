import { describe, expect, it } from "@effect/vitest"
import { HttpServerRequest } from "effect/http"
import { arm, describeArmed } from "../../src/faults/ArmedFault.ts"
import { catalogue, type Fault } from "../../src/injection/catalogue.ts"
import { decide, DueFaults, type RequestFacts } from "../../src/injection/firing.ts"
import type { Operation } from "@berthkit/profile/operations"
import * as World from "../../src/world/World.ts"
import { defaults } from "../../src/world/WorldSettings.ts"

const start = Date.UTC(2026, 0, 1)

const occasion = {
  request: HttpServerRequest.fromWeb(new Request("http://berth.test/")),
  world: World.make({ ...defaults, clock: "frozen" }, 0)
}

const facts = (change: Partial<RequestFacts> = {}): RequestFacts => ({
  operation: "nodes.list",
  nodeId: undefined,
  nodeName: undefined,
  headers: {},
  ...change
})

/**
 * For each fault: the requests among the first `count` (counted from 1) at which the fault is due and acts, and its random draws at these.
 */
const firingsOf = (
  faults: ReadonlyArray<Fault>,
  options: {
    readonly count?: number
    readonly seed?: number
    readonly everyMillis?: number
    /** The operations of the requests, repeated in this order. Default: always the list of nodes. */
    readonly asked?: ReadonlyArray<Operation>
  } = {}
) => {
  const asked = options.asked ?? ["nodes.list"]
  const armed = arm(faults, start)
  const fired: Record<string, Array<number>> = {}
  const drawn: Record<string, Array<number>> = {}
  for (let request = 1; request <= (options.count ?? 10); request++) {
    const due = decide(
      armed,
      facts({ operation: asked[request % asked.length] }),
      options.seed ?? 1,
      start + (request - 1) * (options.everyMillis ?? 0)
    )
    for (const { armed, chance, fault } of due) {
      armed.fired += 1
      ;(fired[fault.fault] ??= []).push(request)
      ;(drawn[fault.fault] ??= []).push(chance(1), chance(2))
    }
  }
  return { fired, drawn }
}

const at = (fault: Omit<Fault, "fault">, options?: Parameters<typeof firingsOf>[1]) =>
  firingsOf([{ fault: "status", ...fault } as Fault], options).fired["status"] ?? []

describe("when a fault fires", () => {
  it("without a trigger: always", () => expect(at({})).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))
  it("times: so often and never again", () => expect(at({ times: 2 })).toEqual([1, 2]))
  it("after: not at the first ones", () => expect(at({ after: 7 })).toEqual([8, 9, 10]))
  it("every: at every Nth", () => expect(at({ every: 3 })).toEqual([3, 6, 9]))
  it("all three together", () => expect(at({ after: 1, every: 2, times: 3 })).toEqual([3, 5, 7]))

  it("from and until: within that time of the world, as instants or as durations from the arming", () => {
    const everyMillis = 1_000
    expect(at({ from: "3s", until: "5 seconds" }, { everyMillis })).toEqual([4, 5])
    expect(at({ from: "2026-01-01T00:00:03Z", until: "2026-01-01T00:00:05.000Z" }, { everyMillis })).toEqual([4, 5])
    // Only requests within the fault's time count.
    expect(at({ from: "3s", after: 1, times: 1 }, { everyMillis })).toEqual([5])
  })

  it("probability: at that share of the requests, others for another seed, the same again for the same", () => {
    const share = (probability: number, seed: number) => at({ probability }, { count: 2_000, seed })
    expect(share(0.25, 1).length).toBeGreaterThan(440)
    expect(share(0.25, 1).length).toBeLessThan(560)
    expect(share(0.25, 1)).toEqual(share(0.25, 1))
    expect(share(0.25, 1)).not.toEqual(share(0.25, 2))
    expect([share(0, 1).length, share(1, 1).length]).toEqual([0, 2_000])
  })
})

describe("a fault that is due", () => {
  it("is counted as seen at once, and as fired only when it has acted", () => {
    const armed = arm([{ fault: "status", times: 1 }], start)
    const dueAtNext = () => new DueFaults(decide(armed, facts(), 1, start), occasion)
    const [first, second] = [dueAtNext(), dueAtNext()]
    expect(armed.map(describeArmed)).toMatchObject([{ seen: 2, fired: 0 }])
    expect(first.first(({ instead }) => instead?.())).toBeDefined()
    expect(armed.map(describeArmed)).toMatchObject([{ seen: 2, fired: 1 }])
    expect(second.first(({ instead }) => instead?.())).toBeUndefined()
    expect(decide(armed, facts(), 1, start)).toEqual([])
  })
})

describe("the scope of a fault", () => {
  const isInScope = (scope: NonNullable<Fault["scope"]>, request: Partial<RequestFacts>): boolean =>
    decide(arm([{ fault: "status", scope }], start), facts(request), 1, start).length === 1

  it("an operation, or one of several", () => {
    expect(isInScope({ operation: "nodes.list" }, {})).toBe(true)
    expect(isInScope({ operation: "nodes.get" }, {})).toBe(false)
    expect(isInScope({ operation: ["nodes.get", "nodes.list"] }, {})).toBe(true)
    expect(isInScope({ operation: ["nodes.get"] }, { operation: undefined })).toBe(false)
  })

  it("a node, by id or by a pattern of its name", () => {
    expect(isInScope({ node: 7 }, { nodeId: 7 })).toBe(true)
    expect(isInScope({ node: 7 }, { nodeId: 8 })).toBe(false)
    expect(isInScope({ node: "web-*" }, { nodeName: "web-1" })).toBe(true)
    expect(isInScope({ node: "web-*" }, { nodeName: "database" })).toBe(false)
    expect(isInScope({ node: "*" }, {})).toBe(false)
  })

  it("only its own operations: the trigger of a fault about creates counts the creates", () => {
    const asked = ["nodes.list", "nodes.create"] as const
    expect(firingsOf([{ fault: "create-lost-reply", every: 2 }], { asked }).fired).toEqual({
      "create-lost-reply": [3, 7]
    })
    expect(firingsOf([{ fault: "empty-list", times: 1 }], { asked }).fired).toEqual({ "empty-list": [2] })
  })

  it("a header, whatever the case of its name", () => {
    expect(isInScope({ header: { "X-Test": "a*" } }, { headers: { "x-test": "abc" } })).toBe(true)
    expect(isInScope({ header: { "x-test": "a*" } }, { headers: { "x-test": "b" } })).toBe(false)
    expect(isInScope({ header: { "x-test": "*" } }, {})).toBe(false)
    expect(isInScope({ header: { __PROTO__: "*" } }, {})).toBe(false)
  })

  it("requests out of its scope are not counted", () => {
    const armed = arm([{ fault: "status", scope: { operation: "nodes.get" }, after: 1 }], start)
    decide(armed, facts(), 1, start)
    decide(armed, facts({ operation: "nodes.get" }), 1, start)
    expect(armed.map(describeArmed)).toMatchObject([{ seen: 1, fired: 0 }])
    expect(decide(armed, facts({ operation: "nodes.get" }), 1, start).length).toBe(1)
  })
})

describe("faults and a seed", () => {
  const half = catalogue.map(({ name }) => ({ fault: name, probability: 0.5 }) as Fault)
  const options = { count: 192, asked: ["nodes.list", "nodes.get", "nodes.create"] } as const

  it.each(half)("$fault fires and draws as it does alone, whatever else is armed", (fault) => {
    const alone = firingsOf([fault], options)
    expect(alone.fired[fault.fault]!.length).toBeGreaterThan(10)
    const others = half.filter((other) => other !== fault)
    for (const all of [[...others, fault], [fault, ...others], half]) {
      const together = firingsOf(all, options)
      expect(together.fired[fault.fault]).toEqual(alone.fired[fault.fault])
      expect(together.drawn[fault.fault]).toEqual(alone.drawn[fault.fault])
    }
  })

  it("no two faults draw the same numbers, not even two of one name", () => {
    const draws = half.map((fault) => JSON.stringify(firingsOf([fault], options).fired[fault.fault]))
    expect(new Set(draws).size).toBe(half.length)
    const twins = arm([half[0]!, half[0]!], start)
    const [first, second] = [1, 2].map(() => [] as Array<boolean>)
    for (let request = 0; request < 64; request++) {
      const due = decide(twins, facts(), 1, start)
      for (const [index, isDue] of [first!, second!].entries())
        isDue.push(due.some(({ armed }) => armed === twins[index]))
    }
    expect(first).not.toEqual(second)
  })
})
