import { describe, expect, it } from "@effect/vitest"
import { DateTime } from "effect"
import fc from "fast-check"
import type { NodeFact } from "../../src/diff/Fact.ts"
import { toEvent, toLine } from "../../src/events/Event.ts"
import { type Life, statusesBetween } from "./RandomWorld.ts"
import { type History, type Reported, watch, type Watched } from "./sampling.ts"

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

const isAboutNode = (reported: Reported): reported is Reported & { readonly fact: NodeFact } =>
  "subject" in reported.fact

const nodeOf = ({ data, type }: NodeFact) => (type === "berth.node.deleted" ? data.before : data.after)

const betweenOf = ({ data: { observedBetween } }: NodeFact) =>
  [DateTime.toEpochMillis(observedBetween[0]), DateTime.toEpochMillis(observedBetween[1])] as const

/** The life a fact is about. */
const lifeOf = ({ world }: Watched, fact: NodeFact): Life => {
  const { createdAt, id } = nodeOf(fact)
  const found = world.lives.find((life) => life.id === id && life.createdAtMillis === DateTime.toEpochMillis(createdAt))
  expect(found).toBeDefined()
  return found!
}

const baselineOf = ({ reported }: Watched) =>
  reported.map(({ fact }) => fact).find((fact) => fact.type === "berth.watch.baseline")

/** The facts about each life, in the order of their reports. */
const perLife = (watched: Watched): ReadonlyMap<Life, ReadonlyArray<NodeFact>> =>
  Map.groupBy(
    watched.reported.filter(isAboutNode).map(({ fact }) => fact),
    (fact) => lifeOf(watched, fact)
  )

describe("a random history, seen through pages that shift, replies that are late and a service that fails", () => {
  it("never reports a node deleted that exists", () => {
    holds((watched) => {
      for (const { atMillis, fact } of watched.reported.filter(isAboutNode)) {
        if (fact.type !== "berth.node.deleted") continue
        const { goneMillis } = lifeOf(watched, fact)
        const [from, to] = betweenOf(fact)
        expect(goneMillis).toBeLessThanOrEqual(atMillis)
        expect(from).toBeLessThanOrEqual(goneMillis)
        expect(to).toBeGreaterThanOrEqual(goneMillis)
      }
    })
  })

  it("has one baseline, before every fact about a node", () => {
    holds((watched) => {
      const facts = watched.reported.map(({ fact }) => fact)
      const first = facts.findIndex(({ type }) => type === "berth.watch.baseline")
      expect(facts.filter(({ type }) => type === "berth.watch.baseline")).toHaveLength(1)
      expect(facts.slice(0, first).filter((fact) => "subject" in fact)).toEqual([])
    })
  })

  it("reports every node that stays exactly once: in the baseline, or as created", () => {
    holds((watched) => {
      const facts = perLife(watched)
      const baseline = baselineOf(watched)?.data.nodes ?? []
      for (const life of watched.world.alive) {
        const inBaseline = baseline.filter(
          ({ createdAt, id }) => id === life.id && DateTime.toEpochMillis(createdAt) === life.createdAtMillis
        )
        const created = (facts.get(life) ?? []).filter(({ type }) => type === "berth.node.created")
        expect(inBaseline.length + created.length).toBe(1)
      }
    })
  })

  it("reports each node in a possible order: created, its statuses one from the other, deleted", () => {
    holds((watched) => {
      const baseline = baselineOf(watched)?.data.nodes ?? []
      for (const [life, facts] of perLife(watched)) {
        let status = baseline.find(
          ({ createdAt, id }) => id === life.id && DateTime.toEpochMillis(createdAt) === life.createdAtMillis
        )?.status
        let deleted = false
        for (const fact of facts) {
          expect(deleted).toBe(false)
          switch (fact.type) {
            case "berth.node.created":
              expect(status).toBeUndefined()
              status = fact.data.after.status
              break
            case "berth.node.status_changed":
              expect(fact.data.from).toBe(status)
              expect(fact.data.to).not.toBe(fact.data.from)
              expect(fact.data.before.status).toBe(fact.data.from)
              status = fact.data.after.status
              break
            case "berth.node.deleted":
              expect(fact.data.before.status).toBe(status)
              deleted = true
          }
        }
      }
    })
  })

  it("reports no status that was not seen, and bounds every change in time", () => {
    holds((watched) => {
      for (const { fact } of watched.reported.filter(isAboutNode)) {
        const statuses = statusesBetween(lifeOf(watched, fact), ...betweenOf(fact))
        if (fact.type === "berth.node.status_changed") {
          expect(statuses).toEqual(expect.arrayContaining([fact.data.from, fact.data.to]))
        }
        if (fact.type === "berth.node.created") expect(statuses).toContain(fact.data.after.status)
      }
    })
  })

  it("ends with a snapshot equal to the world", () => {
    holds(({ snapshot, world }) => {
      const believed = Array.from(snapshot.nodes.values(), ({ node }) => [node.id, node.status]).sort()
      expect(believed).toEqual(world.alive.map((life) => [life.id, world.statusOf(life)]).sort())
      expect(snapshot.standing).toMatchObject({ freeze: null, outage: null })
    })
  })

  it("gives the same ids when it is repeated, each of them once, in the order of their sequence", () => {
    const lines = (history: History) =>
      watch(history).reported.map(({ fact }, index) => toLine(toEvent(fact, "acme", index + 1)))
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
