/**
 * The events as they are published: CloudEvents 1.0 in JSON. Their types and data are those of the facts of `diff/`.
 */
import { DateTime, Schema } from "effect"
import {
  type Fact,
  NodeChanged,
  NodeCreated,
  NodeDeleted,
  NodeDiscovered,
  NodeStatusChanged,
  NodeStuck,
  NodeUnstuck,
  WatchBaseline,
  WatchDegraded,
  WatchRecovered
} from "../diff/Fact.ts"
import { eventId } from "./eventId.ts"

/** Digits of `sequence`: as text, sequences sort the way the numbers do. */
const sequenceDigits = 16

/** The attributes every event has. `id` is the same on every replay. */
const attributes = {
  specversion: Schema.Literal("1.0"),
  id: Schema.String,
  source: Schema.String.annotate({ description: "`/accounts/{name}`." }),
  sequence: Schema.String.annotate({ description: "Place in the order of events, zero-padded." }),
  time: Schema.DateTimeUtc.annotate({ description: "When it was known: the end of `observedBetween`." }),
  datacontenttype: Schema.Literal("application/json")
}

/** The event of a fact. Its name in a JSON Schema is the fact's. */
const eventOf = <Fields extends Schema.Struct.Fields>(identifier: string, { fields }: Schema.Struct<Fields>) =>
  Schema.Struct({ ...attributes, ...fields }).annotate({ identifier })

export const Event = Schema.Union([
  eventOf("NodeCreated", NodeCreated),
  eventOf("NodeDiscovered", NodeDiscovered),
  eventOf("NodeStatusChanged", NodeStatusChanged),
  eventOf("NodeChanged", NodeChanged),
  eventOf("NodeDeleted", NodeDeleted),
  eventOf("NodeStuck", NodeStuck),
  eventOf("NodeUnstuck", NodeUnstuck),
  eventOf("WatchBaseline", WatchBaseline),
  eventOf("WatchDegraded", WatchDegraded),
  eventOf("WatchRecovered", WatchRecovered)
])
export type Event = typeof Event.Type

/** The event of `fact` about `account`, number `sequence` in the order of events. */
export const toEvent = ({ atMillis, identity, ...content }: Fact, account: string, sequence: number): Event => ({
  specversion: "1.0",
  id: eventId(account, content.type, identity),
  source: `/accounts/${encodeURIComponent(account)}`,
  sequence: String(sequence).padStart(sequenceDigits, "0"),
  time: DateTime.makeUnsafe(atMillis),
  datacontenttype: "application/json",
  ...content
})

const toJson = Schema.encodeSync(Schema.fromJsonString(Schema.toCodecJson(Event)))

/** One event as one line of NDJSON, with its line feed. */
export const toLine = (event: Event): string => `${toJson(event)}\n`
