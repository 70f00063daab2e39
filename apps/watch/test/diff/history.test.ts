import { describe, expect, it } from "@effect/vitest"
import { DateTime } from "effect"
import fc from "fast-check"
import type { NodeFact } from "../../src/diff/Fact.ts"
import { toLine } from "../../src/events/Event.ts"
import { fromFact } from "../../src/events/fromFact.ts"
import { type Life, statusesBetween } from "./RandomWorld.ts"
import { type History, type Told, watch, type Watched } from "./sampling.ts"

const history: fc.Arbitrary<History> = fc.record({
  seed: fc.integer(),
  size: fc.integer({ min: 0, max: 12 }),
  turns: fc.integer({ min: 0, max: 600 }),
  perPage: fc.integer({ min: 1, max: 7 }),
  order: fc.constantFrom("oldest-first", "newest-first", "any")
})

/** Holds for 400 random histories. */
const holds = (property: (watched: Watched) => void) =>
  fc.assert(
    fc.property(history, (history) => property(watch(history))),
    { numRuns: 400, seed: 7 }
  )

const isAboutNode = (told: Told): told is Told & { readonly fact: NodeFact } => "incarnation" in told.fact

const nodeOf = (fact: NodeFact) => (fact._tag === "Deleted" ? fact.before : fact.after)

/** The life a fact is about. */
const lifeOf = ({ world }: Watched, fact: NodeFact): Life => {
  const { createdAt, id } = nodeOf(fact)
  const found = world.lives.find((life) => life.id === id && life.createdAtMillis === DateTime.toEpochMillis(createdAt))
  expect(found).toBeDefined()
  return found!
}

const baselineOf = ({ told }: Watched) => told.map(({ fact }) => fact).find((fact) => fact._tag === "Baseline")

/** What is told of each life, in the order of telling. */
const perLife = (watched: Watched): ReadonlyMap<Life, ReadonlyArray<NodeFact>> =>
  Map.groupBy(
    watched.told.filter(isAboutNode).map(({ fact }) => fact),
    (fact) => lifeOf(watched, fact)
  )

describe("a random history, seen through pages that shift, answers that are late and a service that fails", () => {
  it("never has a node told deleted that is there", () => {
    holds((watched) => {
      for (const { atMillis, fact } of watched.told.filter(isAboutNode)) {
        if (fact._tag !== "Deleted") continue
        const { goneMillis } = lifeOf(watched, fact)
        expect(goneMillis).toBeLessThanOrEqual(atMillis)
        expect(fact.between[0]).toBeLessThanOrEqual(goneMillis)
        expect(fact.between[1]).toBeGreaterThanOrEqual(goneMillis)
      }
    })
  })

  it("has one baseline, before everything that is told of a node", () => {
    holds((watched) => {
      const tags = watched.told.map(({ fact }) => fact._tag)
      expect(tags.filter((tag) => tag === "Baseline")).toHaveLength(1)
      expect(
        tags.slice(0, tags.indexOf("Baseline")).filter((tag) => tag !== "Degraded" && tag !== "Recovered")
      ).toEqual([])
    })
  })

  it("tells every node that stays exactly once: in the baseline, or as created", () => {
    holds((watched) => {
      const told = perLife(watched)
      const baseline = baselineOf(watched)?.nodes ?? []
      for (const life of watched.world.alive) {
        const inBaseline = baseline.filter(
          ({ createdAt, id }) => id === life.id && DateTime.toEpochMillis(createdAt) === life.createdAtMillis
        )
        const created = (told.get(life) ?? []).filter(({ _tag }) => _tag === "Created")
        expect(inBaseline.length + created.length).toBe(1)
      }
    })
  })

  it("tells of each node in an order that can have been: created, its statuses one from the other, deleted", () => {
    holds((watched) => {
      const baseline = baselineOf(watched)?.nodes ?? []
      for (const [life, facts] of perLife(watched)) {
        let status = baseline.find(
          ({ createdAt, id }) => id === life.id && DateTime.toEpochMillis(createdAt) === life.createdAtMillis
        )?.status
        let deleted = false
        for (const fact of facts) {
          expect(deleted).toBe(false)
          switch (fact._tag) {
            case "Created":
              expect(status).toBeUndefined()
              status = fact.after.status
              break
            case "StatusChanged":
              expect(fact.from).toBe(status)
              expect(fact.to).not.toBe(fact.from)
              expect(fact.before.status).toBe(fact.from)
              status = fact.after.status
              break
            case "Deleted":
              expect(fact.before.status).toBe(status)
              deleted = true
          }
        }
      }
    })
  })

  it("tells no status that was not seen, and bounds every change in time", () => {
    holds((watched) => {
      for (const { fact } of watched.told.filter(isAboutNode)) {
        const [from, to] = fact.between
        const life = lifeOf(watched, fact)
        if (fact._tag === "StatusChanged") {
          expect(statusesBetween(life, from, to)).toEqual(expect.arrayContaining([fact.from, fact.to]))
        }
        if (fact._tag === "Created") expect(statusesBetween(life, from, to)).toContain(fact.after.status)
      }
    })
  })

  it("ends up believing exactly what is so", () => {
    holds(({ snapshot, world }) => {
      const believed = Array.from(snapshot.nodes.values(), ({ node }) => [node.id, node.status]).sort()
      expect(believed).toEqual(world.alive.map((life) => [life.id, world.statusOf(life)]).sort())
      expect(snapshot.standing).toMatchObject({ freeze: null, outage: null })
    })
  })

  it("is told with the same ids again, each of them once, in the order of their sequence", () => {
    const lines = (history: History) =>
      watch(history).told.map(({ fact }, index) => toLine(fromFact(fact, "acme", index + 1)))
    fc.assert(
      fc.property(history, (history) => {
        const first = lines(history)
        expect(lines(history)).toEqual(first)
        const events = first.map((line) => JSON.parse(line) as { readonly id: string; readonly sequence: string })
        expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
        expect(events.map(({ sequence }) => sequence).toSorted()).toEqual(events.map(({ sequence }) => sequence))
      }),
      { numRuns: 100, seed: 7 }
    )
  })
})
