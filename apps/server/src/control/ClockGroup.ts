/** The clock of a world: read it, advance it by a duration or to the next event, or change its speed. */
import { failures } from "@berthkit/core/api/Envelope"
import { DateTime, Option, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { eventKinds } from "../world/nextEvent.ts"
import { DurationText, readInstantMillis } from "../lifecycle/timeText.ts"
import { textField } from "../lifecycle/textField.ts"
import { ClockText } from "../world/WorldOptions.ts"
import { Instant, worldParam } from "./fields.ts"

/** Something that happens in a world without a request. */
export const WorldEvent = Schema.Struct({
  kind: Schema.Literals(eventKinds),
  at: Instant,
  /** The node that the event is about; absent if it is about the allowance. */
  nodeId: Schema.optionalKey(Schema.Int)
}).annotate({ identifier: "WorldEvent" })

const ClockReading = Schema.Struct({ now: Instant, mode: ClockText }).annotate({ identifier: "ClockReading" })

/** `next-event`, or an instant in any form that Effect accepts. */
type Target = "next-event" | DateTime.DateTime.Input

const AdvanceTarget = textField<Target>(
  Schema.declare(
    (value): value is Target => value === "next-event" || Option.isSome(DateTime.make(value as DateTime.DateTime.Input))
  ),
  "next-event, or an instant such as 2026-01-01T00:00:00Z",
  (text) => (text === "next-event" ? Option.some(text) : Option.map(readInstantMillis(text), DateTime.makeUnsafe)),
  (target) => (target === "next-event" ? target : DateTime.formatIso(DateTime.makeUnsafe(target)))
)

/** A change of the clock: exactly one of the three fields. World time never goes back. */
export const ClockChange = Schema.Struct({
  advance: Schema.optionalKey(DurationText),
  advanceTo: Schema.optionalKey(AdvanceTarget),
  mode: Schema.optionalKey(ClockText)
})
  .check(
    Schema.makeFilter((change) =>
      Object.values(change).filter((value) => value !== undefined).length === 1
        ? undefined
        : "Expected exactly one of advance, advanceTo and mode"
    )
  )
  .annotate({ identifier: "ClockChange" })

/**
 * The clock after a change. After a step to the next event, `events` lists what happens at that instant; it is empty if
 * there is no next event.
 */
export const ClockChanged = Schema.Struct({
  now: Instant,
  mode: ClockText,
  events: Schema.optionalKey(Schema.Array(WorldEvent))
}).annotate({ identifier: "ClockChanged" })

const read = HttpApiEndpoint.get("read", "/worlds/:world/clock", {
  params: worldParam,
  success: ClockReading,
  error: [failures[404]]
}).annotateMerge(OpenApi.annotations({ title: "Read the clock" }))

const change = HttpApiEndpoint.post("change", "/worlds/:world/clock", {
  params: worldParam,
  payload: ClockChange,
  success: ClockChanged,
  error: [failures[400], failures[404], failures[413], failures[415], failures[422]]
}).annotateMerge(OpenApi.annotations({ title: "Move the clock, or change its speed" }))

export class ClockGroup extends HttpApiGroup.make("clock")
  .add(read, change)
  .annotateMerge(OpenApi.annotations({ title: "Clock", description: "The virtual clock that drives a world." })) {}
