import { describe, expect, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import type { Fact } from "../../src/diff/Fact.ts"
import { Event, toLine } from "../../src/events/Event.ts"
import { eventId } from "../../src/events/eventId.ts"
import { fromFact } from "../../src/events/fromFact.ts"
import { aNode } from "../diff/aNode.ts"

const node = aNode({ id: 42, createdAtMillis: Date.UTC(2026, 2, 1, 10, 20, 30, 123) })
const incarnation = Math.floor(DateTime.toEpochMillis(node.createdAt) / 1000)
const between = [1000, 2000] as const
const aboutNode = { incarnation, version: 1, between, sweep: null }

const facts: Record<string, Fact> = {
  "berth.node.created": { _tag: "Created", after: node, ...aboutNode, sweep: 2 },
  "berth.node.status_changed": {
    _tag: "StatusChanged",
    before: { ...node, status: { unknown: "Resizing" } },
    after: node,
    from: { unknown: "Resizing" },
    to: "running",
    ...aboutNode
  },
  "berth.node.deleted": { _tag: "Deleted", before: node, ...aboutNode },
  "berth.watch.baseline": { _tag: "Baseline", nodes: [node], between, sweep: 1 },
  "berth.watch.degraded": {
    _tag: "Degraded",
    trouble: "list-empty",
    message: "The list is empty.",
    sinceMillis: 2000,
    expected: 3,
    missing: 3,
    sweep: 9
  },
  "berth.watch.recovered": {
    _tag: "Recovered",
    trouble: "list-empty",
    ending: "plausible",
    sinceMillis: 2000,
    atMillis: 3000,
    sweep: 10
  }
}

const told = (type: string) => JSON.parse(toLine(fromFact(facts[type]!, "acme", 7)))

describe("an event", () => {
  it.each(Object.keys(facts))("%s has the attributes of CloudEvents 1.0 and can be read back", (type) => {
    const line = toLine(fromFact(facts[type]!, "acme", 7))
    expect(line.indexOf("\n")).toBe(line.length - 1)
    expect(JSON.parse(line)).toMatchObject({
      specversion: "1.0",
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      source: "/accounts/acme",
      type,
      sequence: "0000000000000007",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      datacontenttype: "application/json"
    })
    const event = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.toCodecJson(Event)))(line)
    expect(event).toEqual(fromFact(facts[type]!, "acme", 7))
  })

  it("about a node names it as subject, and says before, after, when and how it was seen", () => {
    expect(told("berth.node.created")).toMatchObject({
      subject: "nodes/42",
      time: "1970-01-01T00:00:02.000Z",
      data: {
        before: null,
        after: { id: 42, createdAt: "2026-03-01T10:20:30.123Z", memoryMib: 1024 },
        observedBetween: ["1970-01-01T00:00:01.000Z", "1970-01-01T00:00:02.000Z"],
        sweep: 2
      }
    })
    expect(told("berth.node.deleted")).toMatchObject({ data: { before: { id: 42 }, after: null, sweep: null } })
  })

  it("about a change says from what to what, in the service's own words where Berth has none", () => {
    expect(told("berth.node.status_changed").data).toMatchObject({ from: { unknown: "Resizing" }, to: "running" })
  })

  it("about the account as a whole has no subject", () => {
    expect(told("berth.watch.baseline")).not.toHaveProperty("subject")
  })
})

describe("the id of an event", () => {
  // Whoever has stored ids has to find them again. This one is the begin of
  // printf '["acme",42,1772360430,"berth.node.created",1]' | sha256sum
  it("is what it always was", () => {
    expect(eventId({ account: "acme", nodeId: 42, incarnation, kind: "berth.node.created", version: 1 })).toBe(
      "3fbfc1efc1d2bbbe8be591bb59aeb755"
    )
  })

  it("says nothing about when or how it was seen", () => {
    const seen = { _tag: "Deleted", before: node, ...aboutNode } as const
    const seenLater = { ...seen, between: [5000, 9000] as const, sweep: 12, before: { ...node, name: "renamed" } }
    expect(fromFact(seenLater, "acme", 99).id).toBe(fromFact(seen, "acme", 7).id)
  })

  it("is another one for another account, node, incarnation, kind or version", () => {
    const identity = { account: "acme", nodeId: 42, incarnation, kind: "berth.node.created", version: 1 }
    const ids = [
      identity,
      { ...identity, account: "other" },
      { ...identity, nodeId: 43 },
      { ...identity, incarnation: incarnation + 1 },
      { ...identity, kind: "berth.node.deleted" },
      { ...identity, version: 2 }
    ].map(eventId)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
