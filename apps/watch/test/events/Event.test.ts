import { describe, expect, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import { unexplained } from "../../src/diff/Cause.ts"
import { Event, type EventFact, eventId, toEvent, toLine } from "../../src/events/Event.ts"
import { anImage, aPlan } from "../diff/catalogue/reading.ts"
import { aNode } from "../diff/aNode.ts"

const node = aNode({ id: 42, createdAtMillis: Date.UTC(2026, 2, 1, 10, 20, 30, 123) })
const incarnation = Math.floor(DateTime.toEpochMillis(node.createdAt!) / 1000)
const observedBetween = [DateTime.makeUnsafe(1000), DateTime.makeUnsafe(2000)] as const
const observed = { observedBetween, sweep: null }
const aboutNode = { identity: { nodeId: 42, incarnation, life: 1, version: 3 }, atMillis: 2000, subject: "nodes/42" }
const aboutAccount = { identity: { nodeId: null, incarnation: null, life: null, version: 1 }, atMillis: 2000 }

const aboutMonth = { identity: { ...aboutAccount.identity, version: "2026-03 1000 50%" }, atMillis: 2000 }
const aboutEntry = { identity: { ...aboutAccount.identity, version: "plans/small 1" }, atMillis: 2000 }
const image = anImage("Ubuntu-24.04")

const facts: { readonly [Type in EventFact["type"]]: Extract<EventFact, { readonly type: Type }> } = {
  "berth.node.created": {
    ...aboutNode,
    type: "berth.node.created",
    data: { before: null, after: node, observedBetween, sweep: 2 }
  },
  "berth.node.discovered": {
    ...aboutNode,
    type: "berth.node.discovered",
    data: { before: null, after: node, ...observed, afterGap: true }
  },
  "berth.node.changed": {
    ...aboutNode,
    type: "berth.node.changed",
    data: { fields: ["name"], before: { ...node, name: "old" }, after: node, ...observed }
  },
  "berth.node.stuck": {
    ...aboutNode,
    type: "berth.node.stuck",
    data: { status: "created", since: DateTime.makeUnsafe(1000), after: node, ...observed }
  },
  "berth.node.unstuck": {
    ...aboutNode,
    type: "berth.node.unstuck",
    data: { status: "created", since: DateTime.makeUnsafe(1000), after: node, ...observed }
  },
  "berth.node.status_changed": {
    ...aboutNode,
    type: "berth.node.status_changed",
    data: {
      from: { unknown: "Resizing" },
      to: "running",
      before: { ...node, status: { unknown: "Resizing" } },
      after: node,
      ...observed
    }
  },
  "berth.node.deleted": {
    ...aboutNode,
    type: "berth.node.deleted",
    data: { before: node, after: null, ...unexplained, ...observed }
  },
  "berth.cost.forecast_exceeded": {
    ...aboutMonth,
    type: "berth.cost.forecast_exceeded",
    data: { month: "2026-03", budgetInr: 1000, forecastInr: 1200.5, minInr: 1200, maxInr: 1201, monthToDateInr: 400 }
  },
  "berth.cost.budget_crossed": {
    ...aboutMonth,
    type: "berth.cost.budget_crossed",
    data: { month: "2026-03", budgetInr: 1000, thresholdPercent: 50, monthToDateInr: 500.1, minInr: 500, maxInr: null }
  },
  "berth.cost.idle": {
    ...aboutNode,
    identity: { ...aboutNode.identity, version: "off 1000" },
    type: "berth.cost.idle",
    data: { reason: "off", since: DateTime.makeUnsafe(1000), pricePerHourInr: 6.46, after: node }
  },
  "berth.node.lease_expired": {
    ...aboutNode,
    identity: { ...aboutNode.identity, version: "expired 1000" },
    type: "berth.node.lease_expired",
    data: { expiredAt: DateTime.makeUnsafe(1000), after: node }
  },
  "berth.watch.baseline": {
    ...aboutAccount,
    type: "berth.watch.baseline",
    data: { count: 5, observedBetween, sweep: 1 }
  },
  "berth.watch.degraded": {
    ...aboutAccount,
    type: "berth.watch.degraded",
    data: { trouble: "list-empty", message: "The list is empty.", expected: 3, missing: 3, sweep: 9 }
  },
  "berth.watch.recovered": {
    ...aboutAccount,
    type: "berth.watch.recovered",
    data: { trouble: "list-empty", ending: "plausible", since: DateTime.makeUnsafe(2000), sweep: 10 }
  },
  "berth.image.added": {
    ...aboutEntry,
    subject: "images/Ubuntu-24.04",
    type: "berth.image.added",
    data: { before: null, after: image, observedBetween }
  },
  "berth.image.removed": {
    ...aboutEntry,
    subject: "images/Ubuntu-24.04",
    type: "berth.image.removed",
    data: { before: image, after: null, observedBetween, afterGap: true }
  },
  "berth.plan.added": {
    ...aboutEntry,
    subject: "plans/small",
    type: "berth.plan.added",
    data: { before: null, after: aPlan("small", 730), observedBetween }
  },
  "berth.plan.removed": {
    ...aboutEntry,
    subject: "plans/small",
    type: "berth.plan.removed",
    data: { before: aPlan("small", 730), after: null, nodes: 3, observedBetween }
  },
  "berth.plan.price_changed": {
    ...aboutEntry,
    subject: "plans/small",
    type: "berth.plan.price_changed",
    data: {
      before: aPlan("small", 730),
      after: aPlan("small", 800),
      nodes: 3,
      differencePerMonthInr: 210,
      observedBetween
    }
  },
  "berth.allowance.low": {
    ...aboutEntry,
    type: "berth.allowance.low",
    data: { limit: 1200, remaining: 100, resetsAt: null }
  },
  "berth.sink.disabled": {
    ...aboutAccount,
    type: "berth.sink.disabled",
    data: { sink: "ops", reason: "gone", message: "The receiver answered 410." }
  },
  "berth.watch.trouble": {
    ...aboutAccount,
    type: "berth.watch.trouble",
    data: {
      trouble: "sink-failing",
      about: { kind: "sink", name: "ops" },
      severity: "critical",
      message: "Deliveries fail. The receiver answered 404.",
      next: "Correct its address.",
      since: DateTime.makeUnsafe(1000)
    }
  },
  "berth.watch.trouble_ended": {
    ...aboutAccount,
    type: "berth.watch.trouble_ended",
    data: { trouble: "store-failing", about: { kind: "daemon", name: null }, since: DateTime.makeUnsafe(1000) }
  }
}

const json = (type: EventFact["type"]) => JSON.parse(toLine(toEvent(facts[type], "acme", 7)))

describe("an event", () => {
  it.each(Object.values(facts))("$type has the attributes of CloudEvents 1.0 and can be read back", (fact) => {
    const line = toLine(toEvent(fact, "acme", 7))
    expect(line.indexOf("\n")).toBe(line.length - 1)
    expect(JSON.parse(line)).toMatchObject({
      specversion: "1.0",
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      source: "/accounts/acme",
      type: fact.type,
      sequence: "0000000000000007",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      datacontenttype: "application/json"
    })
    const event = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.toCodecJson(Event)))(line)
    expect(event).toEqual(toEvent(fact, "acme", 7))
  })

  it("has its attributes and data in one order, which is part of its bytes", () => {
    const keys = ["specversion", "id", "source", "sequence", "time", "datacontenttype"]
    expect(Object.keys(json("berth.watch.baseline"))).toEqual([...keys, "type", "data"])
    expect(Object.keys(json("berth.node.created"))).toEqual([...keys, "subject", "type", "data"])
    const data = Object.keys(json("berth.node.status_changed").data)
    expect(data).toEqual(["from", "to", "before", "after", "observedBetween", "sweep"])
  })

  it("about a node names it as subject, and has before, after, when and how it was seen", () => {
    expect(json("berth.node.created")).toMatchObject({
      subject: "nodes/42",
      time: "1970-01-01T00:00:02.000Z",
      data: {
        before: null,
        after: { id: 42, createdAt: "2026-03-01T10:20:30.123Z", memoryMib: 1024 },
        observedBetween: ["1970-01-01T00:00:01.000Z", "1970-01-01T00:00:02.000Z"],
        sweep: 2
      }
    })
    expect(json("berth.node.deleted")).toMatchObject({ data: { before: { id: 42 }, after: null, sweep: null } })
  })

  it("about a change has both statuses, in the service's own words where Berth has none", () => {
    expect(json("berth.node.status_changed").data).toMatchObject({ from: { unknown: "Resizing" }, to: "running" })
  })

  it("about the account as a whole has no subject", () => {
    expect(json("berth.watch.baseline")).not.toHaveProperty("subject")
  })
})

describe("the id of an event", () => {
  const identity = { nodeId: 42, incarnation, life: 1, version: 3 }

  // Receivers store ids and have to find them again. This one is the beginning of printf '["acme",42,1772360430,1,"berth.node.created",3]'
  // | sha256sum
  it("never changes", () => {
    expect(eventId("acme", "berth.node.created", identity)).toBe("71bc669cc10651811a5d2f2690a94bea")
  })

  it("does not depend on when or how it was seen", () => {
    const seen = facts["berth.node.deleted"]
    const before = { ...node, name: "renamed" }
    const seenLater = { ...seen, atMillis: 9000, data: { ...seen.data, sweep: 12, before } }
    expect(toEvent(seenLater, "acme", 99).id).toBe(toEvent(seen, "acme", 7).id)
  })

  it("differs for another account, node, incarnation, life, type or version", () => {
    const ids = [
      eventId("acme", "berth.node.created", identity),
      eventId("other", "berth.node.created", identity),
      eventId("acme", "berth.node.deleted", identity),
      eventId("acme", "berth.node.created", { ...identity, nodeId: 43 }),
      eventId("acme", "berth.node.created", { ...identity, incarnation: incarnation + 1 }),
      eventId("acme", "berth.node.created", { ...identity, life: 2 }),
      eventId("acme", "berth.node.created", { ...identity, version: 4 })
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })
})
