/** The event types for receivers are generated from the schemas, and fit the events that the daemon makes. */
import { readFileSync } from "node:fs"
import { Ajv2020 } from "ajv/dist/2020.js"
import { expect, it } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import { printSchema, printTypes } from "../../scripts/eventTypes.ts"
import { withSilences } from "../../src/deliver/Silences.ts"
import { Event, eventTypes, sinkBaseline, toJson } from "../../src/events/Event.ts"
import type { WatchEvent } from "../../src/receive.ts"

const fileOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

it("are committed as the schemas print them (`pnpm --filter @berthkit/watch events` writes them)", () => {
  expect(fileOf("events.json")).toBe(printSchema())
  expect(fileOf("src/receive/Events.ts")).toBe(printTypes())
})

const isValid = new Ajv2020({ strict: false }).compile(JSON.parse(printSchema()))

/** Events of every type. JSON has no digits for some numbers, which no record has. */
const someEvents = Effect.map(
  Effect.forEach(Event.members, (member) => Arbitrary.sampleEffect(Arbitrary.schema(member), { count: 30, seed: 7 })),
  (samples) =>
    samples
      .flat()
      .map((event) => toJson(event))
      .filter((json) => !/:"(?:NaN|-?Infinity)"/.test(json))
)

it.effect("hold for every event, also after a silence", () =>
  Effect.gen(function* () {
    const events = yield* someEvents
    expect(new Set(events.map((json) => JSON.parse(json).type)).size).toBe(eventTypes.length)
    const silence = { id: "s1", reason: "maintenance" } as never
    for (const json of events) {
      expect([isValid(JSON.parse(json)), isValid.errors]).toEqual([true, null])
      expect(isValid(JSON.parse(withSilences(json, [silence])))).toBe(true)
    }
  })
)

it.effect("apply to the nodes with which a sink starts", () =>
  Effect.gen(function* () {
    const found = (yield* someEvents)
      .map((json) => JSON.parse(json))
      .find(({ type }) => type === "berth.node.discovered")
    const of = { account: "main", accountId: "a", nodeId: 7, seq: 3, sink: "hook", atMillis: 5 }
    expect(isValid(JSON.parse(sinkBaseline({ ...of, record: found.data.after }).body))).toBe(true)
    expect(isValid(JSON.parse(sinkBaseline({ ...of, record: { id: 7 } }).body))).toBe(false)
  })
)

it.effect("have the existing types, and narrow by type", () =>
  Effect.gen(function* () {
    const nameOf = (event: WatchEvent): string | null => {
      switch (event.type) {
        case "berth.node.deleted":
          return event.data.before.name
        case "berth.node.discovered":
          return event.data.after.name
        default:
          return null
      }
    }
    for (const json of yield* someEvents) {
      const event = JSON.parse(json)
      const isNamed = event.type === "berth.node.deleted" || event.type === "berth.node.discovered"
      expect(nameOf(event)).toBe(isNamed ? (event.data.before ?? event.data.after).name : null)
    }
  })
)
