import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import {
  defaultLifecycle,
  type Lifecycle,
  type Outcomes,
  ruleFor,
  goneAt,
  type LivingNode,
  nextChange,
  phaseAt
} from "../../src/lifecycle/NodeLife.ts"
import { matches } from "../../src/lifecycle/pattern.ts"

const node = (id: number, over: Partial<LivingNode> = {}): LivingNode => ({
  id,
  name: `node-${id}`,
  createdAt: 0,
  deletedAt: null,
  commitment: null,
  ...over
})

const only = (outcome: Partial<Outcomes>): Outcomes => ({ runs: 0, stuck: 0, powersOff: 0, vanishes: 0, ...outcome })

describe("a lifecycle with jitter and outcomes", () => {
  it("gives each outcome its share: the same nodes every time, other nodes for another seed", () => {
    const lifecycle: Lifecycle = { ...defaultLifecycle, outcomes: { runs: 6, stuck: 2, powersOff: 1, vanishes: 1 } }
    const phases = (seed: number) =>
      Array.from({ length: 2_000 }, (_, id) => phaseAt(seed, lifecycle, node(id), 10_000_000))
    const share = (phase: string) => phases(1).filter((one) => one === phase).length / 2_000
    expect(share("running")).toBeCloseTo(0.6, 1)
    expect(share("created")).toBeCloseTo(0.2, 1)
    expect(share("power-off")).toBeCloseTo(0.1, 1)
    expect(share("gone")).toBeCloseTo(0.1, 1)
    expect(phases(1)).toEqual(phases(1))
    expect(phases(2)).not.toEqual(phases(1))
  })

  it("never gives an outcome without weight", () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.nat(1_000_000),
        fc.double({ min: 1e-9, max: 1e6, noNaN: true }),
        (seed, id, weight) => {
          const under = (outcomes: Outcomes) => phaseAt(seed, { ...defaultLifecycle, outcomes }, node(id), 1e12)
          expect(under(only({ runs: weight }))).toBe("running")
          expect(under(only({ stuck: weight }))).toBe("created")
          expect(under(only({ powersOff: weight }))).toBe("power-off")
          expect(under(only({ vanishes: weight }))).toBe("gone")
          expect(["running", "power-off"]).toContain(under(only({ runs: weight, powersOff: weight / 3 })))
        }
      )
    )
  })

  it("adds at most the jitter to a stage, and not the same to all", () => {
    const lifecycle = { ...defaultLifecycle, provisioningMillis: 1_000, provisioningJitterMillis: 500 }
    const ends = Array.from({ length: 200 }, (_, id) => nextChange(1, lifecycle, node(id), 0)!.at)
    for (const end of ends) expect(end).toBeGreaterThanOrEqual(1_000)
    for (const end of ends) expect(end).toBeLessThanOrEqual(1_500)
    expect(new Set(ends).size).toBeGreaterThan(100)
  })

  it("changes a node's phase at the changes it announces, and at no other instant", () => {
    const weights = fc.record({ runs: fc.nat(2), stuck: fc.nat(2), powersOff: fc.nat(2), vanishes: fc.nat(2) })
    const commitment = fc.record({
      skuId: fc.constant(1),
      days: fc.integer({ min: 1, max: 2 }),
      startedAt: fc.constant(0),
      setting: fc.constantFrom("auto_renew" as const, "auto_terminate" as const, "hourly_billing" as const),
      nextSkuId: fc.constant(1),
      nextDays: fc.integer({ min: 1, max: 2 })
    })
    fc.assert(
      fc.property(
        fc.integer(),
        fc.nat(1000),
        weights.filter((one) => Object.values(one).some((weight) => weight > 0)),
        fc.option(fc.nat(200_000_000)),
        fc.option(commitment),
        fc.option(fc.constantFrom("created" as const, "running" as const, "power-off" as const), { nil: undefined }),
        (seed, id, outcomes, deletedAt, committed, forced) => {
          const lifecycle = {
            ...defaultLifecycle,
            outcomes,
            provisioningJitterMillis: 700,
            outcomeAfterJitterMillis: 50_000
          }
          const one = node(id, { deletedAt, commitment: committed, ...(forced === undefined ? {} : { forced }) })
          const phase = (now: number) => phaseAt(seed, lifecycle, one, now)
          let now = 0
          for (let i = 0; i < 8; i++) {
            const next = nextChange(seed, lifecycle, one, now)
            // A delete is not one of the node's own changes. Between these changes, the phase stays the same.
            const last = next === null ? now + 1e9 : next.at - 1
            for (const at of [now, now + Math.floor((last - now) / 2), last]) {
              const isDeleted = deletedAt !== null && now < deletedAt && at >= deletedAt
              if (!isDeleted) expect(phase(at)).toBe(phase(now))
            }
            if (next === null) return
            expect(next.at).toBeGreaterThan(now)
            if (next.kind === "vanishes" || next.kind === "termination-ends") expect(phase(next.at)).toBe("gone")
            if (next.kind === "powers-off") expect(phase(next.at)).toBe("power-off")
            now = next.at
          }
        }
      )
    )
  })

  it("differs for nodes whose name matches a pattern; the first pattern wins", () => {
    const rule = (provisioningMillis: number) => ({ ...defaultLifecycle, provisioningMillis })
    const lifecycle: Lifecycle = {
      ...defaultLifecycle,
      byName: [
        { pattern: "web-1", rule: rule(1) },
        { pattern: "web-*", rule: rule(2) }
      ]
    }
    expect(["web-1", "web-2", "db"].map((name) => ruleFor(lifecycle, name).provisioningMillis)).toEqual([1, 2, 2_000])
    expect(goneAt(1, lifecycle, node(1))).toBe(Number.POSITIVE_INFINITY)
  })
})

describe("a pattern of names", () => {
  it("treats * as any text, ? as one character, and everything else literally", () => {
    const cases: ReadonlyArray<readonly [pattern: string, name: string, matches: boolean]> = [
      ["*", "", true],
      ["*", "anything", true],
      ["web-*", "web-1", true],
      ["web-*", "my-web-1", false],
      ["*-1", "web-1", true],
      ["*-1", "web-12", false],
      ["w*b*1", "web-b-1", true],
      ["w?b", "web", true],
      ["w?b", "wb", false],
      ["web.1", "web-1", false],
      ["[a-z]", "a", false],
      ["WEB", "web", false],
      ["", "web", false]
    ]
    for (const [pattern, name, expected] of cases)
      expect([pattern, name, matches(pattern, name)]).toEqual([pattern, name, expected])
  })

  it("agrees with the regular expression it stands for, on any text", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "*", "?", "."), maxLength: 12 })
    fc.assert(
      fc.property(text, text, (pattern, name) => {
        const escaped = pattern.replace(/[.]/g, "\\.").replace(/\*/g, "[^]*").replace(/\?/g, "[^]")
        expect(matches(pattern, name)).toBe(new RegExp(`^${escaped}$`).test(name))
      })
    )
  })
})
